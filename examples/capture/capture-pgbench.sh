#!/bin/bash
# Records a block trace of a real PostgreSQL server under pgbench, on an ext4
# file system on a 1 GiB disk, and writes the trace as MSR-Cambridge CSV:
#
#     sudo examples/capture/capture-pgbench.sh [OUTPUT.csv.zst]
#
# The default output is examples/traces/pgbench-ext4.csv.zst.
#
# What runs:
#   * The disk: nbdkit's memory plugin (1 GiB of RAM) under nbdkit's log filter,
#     which records every request with a microsecond time stamp, once when the
#     request arrives and once when it is answered. nbdfuse shows the NBD disk
#     as a file, and `losetup --direct-io=on` makes this file a block device.
#     No cache is between ext4 and the log, so the log contains the requests
#     that ext4 sent to its disk.
#   * The file system: ext4, 4-KiB blocks, no reserved blocks, inode tables and
#     journal initialised by mkfs, so that no background zeroing is recorded.
#   * The database: PostgreSQL, with its data directory and WAL on this disk.
#     The settings are those in this script, such as
#     shared_buffers=SHARED_BUFFERS. All other settings are PostgreSQL's
#     defaults (autovacuum and full-page writes on). The server and its page
#     cache are in a memory cgroup of MEM_LIMIT, as in a small container, so
#     that reads miss the cache and reach the disk.
#   * The load: pgbench at scale SCALE with CLIENTS clients, at most RATE
#     transactions per second. The first WARMUP seconds are not recorded, and
#     the next DURATION seconds are. The mix of transactions, by weight:
#       WEIGHT_LOOKUP  read one account. Its number is drawn by
#                      random_zipfian(1, accounts, ZIPF), so low numbers are
#                      hot. The table is loaded in the order of the account
#                      numbers, so hot accounts are neighbours on the disk.
#       WEIGHT_SCAN    read RANGE neighbouring accounts, from an account drawn
#                      in the same way (an index range scan).
#       WEIGHT_SELECT  run the builtin select-only of pgbench (uniform).
#       WEIGHT_TPCB    run the builtin tpcb-like of pgbench (uniform), which
#                      writes.
#
# The trace contains only the requests of the recorded seconds. mkfs, initdb, the
# load of the tables and the warm-up come before these seconds, and the shutdown
# comes after them.
#
# nbdkit-log-to-msr.py converts the log. Every read and every write becomes a row,
# in the order of arrival. Time stamp and response time are in units of 100 ns.
# Both are multiples of 10, because the log is in microseconds. Flushes, trims and
# write-zeroes are counted and left out, because the MSR format has no rows for
# them. The counts are printed at the end.
#
# The response times are those of a RAM disk. They say nothing about an SSD.
#
# The script needs root, Linux with loop, fuse, ext4 and a memory cgroup (v1 or
# v2), about 1.5 GB of free RAM, and these Debian packages:
#     nbdkit libnbd-bin postgresql-15 e2fsprogs util-linux zstd python3
# The trace in the repository was made by this script, with Debian 12's
# nbdkit 1.32.5, nbdfuse (libnbd) 1.14.2, PostgreSQL 15.18, e2fsprogs 1.47.0 and
# util-linux 2.38.1, on Linux 6.18.44 with cgroup v1, in a virtual machine with
# 2 processors. The part of the script for cgroup v2 has not been tested.
#
# KEEP_LOG=1 keeps the working directory with the log and the report of pgbench.
#
# A second run gives a similar but different trace. The seed of pgbench is fixed,
# but the timing of the machine is not.
set -euo pipefail
export LC_ALL=C TZ=UTC   # the log has local time, which must be UTC

DISK_SIZE=1G
SCALE=40
CLIENTS=4
RATE=900
WARMUP=30
DURATION=280
SEED=20240607
SHARED_BUFFERS=4MB
MEM_LIMIT=$((24 << 20))
ZIPF=1.05
RANGE=100
WEIGHT_LOOKUP=15 WEIGHT_SCAN=2 WEIGHT_SELECT=2 WEIGHT_TPCB=1
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../traces/pgbench-ext4.csv.zst}

[ "$(id -u)" = 0 ] || { echo "run me as root" >&2; exit 1; }
for t in nbdkit nbdfuse losetup mkfs.ext4 runuser zstd python3 "$PGBIN/postgres" "$PGBIN/pgbench"; do
    command -v "$t" >/dev/null || { echo "missing: $t" >&2; exit 1; }
done

work=$(mktemp -d /tmp/vpass-capture.XXXXXX)
chmod 755 "$work"        # the user postgres must be able to reach its directory
pgdata=$work/mnt/pgdata
loop= mounted= fused= cg=
as_pg() { (cd / && runuser -u postgres -- "$@"); }

cleanup() {
    set +e
    [ -f "$pgdata/postmaster.pid" ] && as_pg "$PGBIN/pg_ctl" -D "$pgdata" -m immediate -w stop >/dev/null
    [ -n "$mounted" ] && umount "$work/mnt"
    [ -n "$loop" ] && losetup -d "$loop"
    if [ -n "$fused" ]; then
        # the loop device releases the file shortly after losetup -d
        for _ in 1 2 3 4 5 6 7 8 9 10; do umount "$work/disk" 2>/dev/null && break; sleep 0.3; done
    fi
    if [ -f "$work/nbdkit.pid" ]; then
        local pid; pid=$(cat "$work/nbdkit.pid")
        kill "$pid"
        for _ in 1 2 3 4 5 6 7 8 9 10; do [ -d "/proc/$pid" ] || break; sleep 0.3; done
    fi
    [ -n "$cg" ] && for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$cg" 2>/dev/null && break; sleep 0.3; done
    if mountpoint -q "$work/mnt" || grep -q " $work/" /proc/mounts; then
        echo "still mounted below $work, left as it is" >&2
    elif [ -n "${KEEP_LOG:-}" ]; then
        echo "kept: $work"
    else
        rm -rf "$work"
    fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

echo "== disk"
mkdir "$work/mnt" "$work/sock"
chown postgres "$work/sock"
: > "$work/disk"
nbdkit --unix "$work/nbd.sock" -P "$work/nbdkit.pid" \
    --filter=log memory "$DISK_SIZE" logfile="$work/nbdkit.log"
nbdfuse -P "$work/nbdfuse.pid" "$work/disk" --unix "$work/nbd.sock" &
fused=1
for _ in $(seq 50); do [ -s "$work/nbdfuse.pid" ] && break; sleep 0.1; done
disk_bytes=$(stat -c %s "$work/disk")
loop=$(losetup --find --show --direct-io=on "$work/disk")
[ "$(losetup -n -O DIO "$loop" | tr -d ' ')" = 1 ] || { echo "no direct I/O on $loop" >&2; exit 1; }
mkfs.ext4 -q -b 4096 -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$loop"
mount -o noatime "$loop" "$work/mnt"
mounted=1

echo "== database, scale $SCALE"
install -d -o postgres -g postgres -m 700 "$pgdata"
as_pg "$PGBIN/initdb" -D "$pgdata" -A trust -U postgres --no-locale -E UTF8 >/dev/null
cat >> "$pgdata/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$work/sock'
max_connections = 20
shared_buffers = $SHARED_BUFFERS
max_wal_size = 96MB
min_wal_size = 64MB
checkpoint_timeout = 60s
max_parallel_workers_per_gather = 0
CONF
pg_start() { as_pg "$PGBIN/pg_ctl" -D "$pgdata" -l "$work/sock/pg.log" -w start >/dev/null; }
pg_stop() { as_pg "$PGBIN/pg_ctl" -D "$pgdata" -m fast -w stop >/dev/null; }
pgb() { as_pg "$PGBIN/pgbench" -h "$work/sock" -U postgres "$@" postgres; }
pg_start
pgb -i -q -s "$SCALE" 2>&1 | tail -1
pg_stop
df -h "$work/mnt" | tail -1
umount "$work/mnt"                       # begin with an empty page cache
mount -o noatime "$loop" "$work/mnt"

echo "== memory cgroup"
if [ -f /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
    cg=/sys/fs/cgroup/memory/vpass-capture.$$
    mkdir "$cg"
    echo "$MEM_LIMIT" > "$cg/memory.limit_in_bytes"
else
    cg=/sys/fs/cgroup/vpass-capture.$$
    echo +memory > /sys/fs/cgroup/cgroup.subtree_control
    mkdir "$cg"
    echo "$MEM_LIMIT" > "$cg/memory.max"
fi
# The cgroup contains only the server. pgbench and the disk are outside.
(echo "$BASHPID" > "$cg/cgroup.procs"; pg_start)
grep -qx "$(head -1 "$pgdata/postmaster.pid")" "$cg/cgroup.procs" || { echo "the server is not in the cgroup" >&2; exit 1; }

cat > "$work/lookup.sql" <<SQL
\set aid random_zipfian(1, 100000 * :scale, $ZIPF)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL
cat > "$work/scan.sql" <<SQL
\set aid random_zipfian(1, 100000 * :scale, $ZIPF)
SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + $RANGE - 1;
SQL
load() { # seconds, seed
    pgb -n -s "$SCALE" -c "$CLIENTS" -j 1 -M prepared -R "$RATE" -T "$1" --random-seed="$2" \
        -f "$work/lookup.sql@$WEIGHT_LOOKUP" -f "$work/scan.sql@$WEIGHT_SCAN" \
        -b "select-only@$WEIGHT_SELECT" -b "tpcb-like@$WEIGHT_TPCB" 2>&1
}
echo "== warm-up, $WARMUP s"
load "$WARMUP" "$((SEED + 1))" >/dev/null
echo "== recording, $DURATION s"
from=$(date +%s.%6N)
load "$DURATION" "$SEED" | tee "$work/pgbench.txt" | grep -E '^(tps|latency|number of (trans|failed))'
to=$(date +%s.%6N)
pg_stop

echo "== conversion"
python3 "$here/nbdkit-log-to-msr.py" --from "$from" --to "$to" --host pgbench \
    "$work/nbdkit.log" "$work/trace.csv"
python3 "$here/trace-stats.py" "$work/trace.csv" "$disk_bytes"
zstd -q -19 -f "$work/trace.csv" -o "$out"
ls -l "$out"
echo "== versions"
uname -sr
nbdkit --version
nbdfuse --version | head -1
"$PGBIN/postgres" --version
mkfs.ext4 -V 2>&1 | head -1
losetup --version
