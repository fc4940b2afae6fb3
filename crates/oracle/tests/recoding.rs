//! Drives whose policy recodes wordlines and blocks so that they give up the least significant
//! page. The oracle finds no error.

use vpass_drive::api::reclaim::{
    Action, FASTER, FIRST_OWN, FULL, Policy, Promise, Rewrite, StreamSpec, Threshold, View,
};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::{PageSet, WordlineSet};
use vpass_drive::base::units::{BlockId, Bytes, Lpn, Reads};
use vpass_drive::drive::Drive;
use vpass_techniques::usual;

use crate::watched::{Random, config, end_without_loss, filled};

/// Recodes each block of full density after this number of reads, alternately as a whole and in
/// every second wordline. After twice that number, moves all pages.
struct Recoder {
    at: u32,
    turn: u32,
}

impl Policy for Recoder {
    fn arm(&mut self, _view: &View, _block: BlockId) -> Reads {
        Reads(self.at)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let (reads, g) = (view.reads(block).0, view.geometry);
        let is_recoded = view.mode(block) != FULL || !view.recoded(block).is_empty();
        if reads < 2 * self.at && is_recoded || reads < self.at {
            return Reads(if is_recoded { 2 * self.at } else { self.at });
        }
        self.turn += 1;
        out.push(match self.turn % 2 {
            _ if is_recoded => Rewrite::all(block).into(),
            0 => Rewrite::recode(block, FASTER, FIRST_OWN).into(),
            _ => {
                let mut wordlines = WordlineSet::none(g.wordlines_per_block);
                g.wordlines_in_block()
                    .step_by(2)
                    .for_each(|wordline| wordlines.insert(wordline, 1));
                Rewrite::recode_wordlines(
                    block,
                    FASTER,
                    wordlines,
                    PageSet::none(g.pages_per_block),
                )
                .into()
            }
        });
        Reads(reads + 1)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![StreamSpec {
            purpose: "fast",
            mode: FASTER,
            pool: false,
            most_pages: None,
            counts_pages: false,
        }]
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("its drive endures enough")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}

#[test]
fn the_oracle_has_nothing_to_say_of_any_cell_type_or_program_unit() {
    for (cell, unit) in [
        ("mlc", "page"),
        ("tlc", "page"),
        ("qlc", "page"),
        ("tlc", "wordline"),
        ("qlc", "wordline"),
    ] {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 16, cell = "{cell}", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800, program_unit = "{unit}" }}
            drive = {{ spare = 0.4 }}
            density = {{ reprogram_dose = 1.5 }}
            disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [20000], alpha = [9.0] }}] }}
            "#
        );
        let recoder = Box::new(Recoder { at: 400, turn: 0 });
        let drive = Drive::with_policy(config(&text), recoder, &usual(), false);
        let mut drive = filled(drive.unwrap());
        let (mut random, pages) = (Random(1), drive.geometry().host_pages.into());
        for n in 0..60_000 {
            let page = random.below(pages) as u32;
            if n % 8 == 0 {
                drive.write_page(Lpn::new(page), u64::MAX)
            } else {
                drive.read_pages(&[Lpn::new(page / 4)])
            }
        }
        end_without_loss(&mut drive, &format!("{cell}, {unit}"));
        let (reclaim, merged) =
            (*drive.reclaim_counts(), drive.flash_counts().reprograms.iter().sum::<u64>());
        assert!(
            reclaim.reprograms > 0 && merged > 16 * reclaim.reprograms,
            "{cell}, {unit}: {merged} wordlines, {reclaim:?}"
        );
    }
}
