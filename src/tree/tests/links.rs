//! Links that are followed, and links that are not.

use super::bed::{Bed, CANARY};

#[test]
fn a_link_inside_the_root_is_what_it_points_to() {
    let bed = Bed::new(&["root/a/real.md", "root/a/sub/x.md", "root/shared/SKILL.md"]);
    bed.link("root/a/link.md", "real.md");
    bed.link("root/a/alias", "sub");
    bed.link("root/b/SKILL.md", "../shared/SKILL.md");
    bed.check(
        "a/link.md = root/a/real.md
         a/real.md
         a/alias/x.md = root/a/sub/x.md
         a/sub/x.md
         b/SKILL.md = root/shared/SKILL.md
         shared/SKILL.md",
    );
}

#[test]
fn a_link_that_leaves_costs_the_file_it_stands_for() {
    let bed = Bed::new(&["root/a/SKILL.md", "root/c/x.md"]);
    bed.write("outside/SKILL.md", CANARY);
    bed.link("root/a/relative.md", "../../outside/SKILL.md");
    bed.link("root/a/absolute.md", "@outside/SKILL.md");
    bed.link("root/a/first.md", "second.md");
    bed.link("root/a/second.md", "../../outside/SKILL.md");
    bed.link("root/a/dir", "../../outside");
    bed.link("root/a/zero", "/dev/zero");
    bed.link("root/a/environ", "/proc/self/environ");
    bed.link("root/a/slash", "/");
    bed.link("root/b/SKILL.md", "../../outside/SKILL.md");
    bed.check(
        "a/SKILL.md
         b/
         c/x.md
         warning[link-leaves] root/a/absolute.md
         warning[link-leaves] root/a/dir
         warning[link-leaves] root/a/environ
         warning[link-leaves] root/a/first.md
         warning[link-leaves] root/a/relative.md
         warning[link-leaves] root/a/second.md
         warning[link-leaves] root/a/slash
         warning[link-leaves] root/a/zero
         error[link-leaves] root/b/SKILL.md",
    );
}
