//! Tests of reading files of doses, and of the errors for refused files.

use crate::dose::rows::{Block, Doses, Map};
use crate::folder::Folder;

const DOSE: &str = "\
block,die,plane,at_s,at_host_read_pages,pec_cycles,wordline,group,alpha,guard_levels,reads,dose,\
limit,valid_pages,lost_pages
7,0,0,1.5,900,1501,0,best,8.95,0,10,50,200,3,0
7,0,0,1.5,900,1501,2,\"odd, \"\"name\"\"\",9.25,1,0,90.5,2000,0,0
4,0,0,,100,1502,0,best,8.95,0,5,300,200,0,3
";
const MAP: &str = "\
rank,block,bin,first_wordline,wordlines,worst_ratio,state,ratio_at_end
1,4,0,0,1,1.5,lost,0
1,4,1,1,1,,none,
2,7,0,0,1,0.25,data,0.1
2,7,1,1,1,0.125,data,0.1
";
const BLOCKS: &str = "\
block,worst_ratio,worst_wordline,at_s,wordlines_past_limit,erases,share_used_at_erase
7,0.25,0,1.5,0,2,0.2
4,1.5,0,,1,0,
";

fn folder(dose: &str, map: &str, blocks: &str) -> Folder {
    let files = [("dose.csv", dose), ("dose_map.csv", map), ("dose_blocks.csv", blocks)];
    Folder::of_files("here", files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())))
}

#[test]
fn the_worst_block_is_first_and_every_value_arrives() {
    let doses = Doses::read(&folder(DOSE, MAP, BLOCKS)).unwrap().unwrap();
    let [worst, other] = &doses.snapshots[..] else { panic!("two blocks are expected") };
    assert_eq!((worst.block, worst.at_s, other.block, other.at_s), (4, None, 7, Some(1.5)));
    assert_eq!((worst.at_host_read_pages, worst.pec_cycles), (100, 1502));
    assert_eq!(worst.wordlines[0].lost_pages, 3);
    // Wordline 1 has no row in the file, so it counts as not programmed.
    assert_eq!(other.wordlines.len(), 3);
    assert!(!other.wordlines[1].holds_data() && other.wordlines[1].ratio() == 0.0);
    let third = &other.wordlines[2];
    assert_eq!(third.group, "odd, \"name\"");
    assert!(third.guard_levels == 1 && other.wordlines[0].guard_levels == 0);
    assert_eq!((third.alpha, third.dose, third.limit), (9.25, 90.5, 2000.0));
    // Wordline 2 has a larger dose than wordline 0, but it holds no data.
    assert_eq!((other.worst(), other.worst_ratio()), (Some(0), 0.25));
    assert_eq!(
        doses.map,
        Map {
            blocks: vec![4, 7],
            first_wordlines: vec![0, 1],
            cells: vec![Some(1.5), None, Some(0.25), Some(0.125)],
        }
    );
    assert_eq!(doses.blocks[0], Block { block: 4, worst_ratio: 1.5, wordlines_past_limit: 1 });
    assert_eq!((doses.worst_ratio(), doses.past_limit()), (1.5, 1));
    // The stored wordlines count, because the page shows their doses. Without them, the summaries
    // count.
    let exact = BLOCKS.replace("4,1.5,", "4,1.509,");
    let doses = Doses::read(&folder(DOSE, MAP, &exact)).unwrap().unwrap();
    assert!((doses.worst_ratio() - 1.5).abs() < 1e-12);
    let without = Doses { snapshots: vec![], ..doses };
    assert!((without.worst_ratio() - 1.509).abs() < 1e-12);
}

#[test]
fn without_one_of_the_files_there_are_no_doses() {
    let files = [("dose.csv".to_owned(), DOSE.as_bytes().to_vec())];
    assert_eq!(Doses::read(&Folder::of_files("here", files)).unwrap(), None);
}

#[test]
fn a_file_that_cannot_be_is_refused_with_its_place() {
    let refused = |dose: &str, map: &str, blocks: &str| {
        Doses::read(&folder(dose, map, blocks)).unwrap_err().to_string()
    };
    let sentence = refused(&DOSE.replace(",alpha,", ",weight,"), MAP, BLOCKS);
    assert!(sentence.contains("here/dose.csv: ") && sentence.contains("missing field `alpha`"));
    let sentence = refused(&DOSE.replace(",90.5,", ",-1,"), MAP, BLOCKS);
    assert!(sentence.contains("record 2") && sentence.contains("-1: a number from 0 upwards"));
    let sentence = refused(&DOSE.replace(",1501,2,", ",1501,65536,"), MAP, BLOCKS);
    assert!(sentence.contains("record 2") && sentence.contains("65536: a number below 65536"));
    let sentence = refused(DOSE, &MAP.replace("2,7,1,1,1,0.125,data,0.1\n", ""), BLOCKS);
    assert!(
        sentence.starts_with(
            "here/dose_map.csv: the dose map has 3 rows, but its ranks and bins need 4"
        ),
        "{sentence}"
    );
    let sentence = refused(DOSE, &MAP.replace(",data,0.1\n", ",data\n"), BLOCKS);
    assert!(sentence.contains("here/dose_map.csv: ") && sentence.contains("record 3"));
    let sentence = refused(DOSE, MAP, &BLOCKS.replace("1.5,0,,1", "NaN,0,,1"));
    assert!(sentence.contains("dose_blocks.csv: ") && sentence.contains("NaN: a number"));
}
