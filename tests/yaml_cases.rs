//! Every case that the hosts' YAML parser was asked about: the same value, or a refusal that is listed here.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use skillserve::finding::Code;
use skillserve::frontmatter;

/// Cases that hosts' parser reads and that are refused nevertheless, with the code.
const REFUSED: &[(&str, Code)] = &[
    // In JavaScript the last of two keys wins that are equal only once they are texts.
    ("dup-int-str", Code::YamlDuplicateKey),
    // Tags that hosts drop with a warning, or obey, each in its way.
    ("tag-intbad", Code::YamlNotJson),
    ("tag-flt", Code::YamlNotJson),
    ("tag-py", Code::YamlNotJson),
    ("tag-mapseq", Code::YamlNotJson),
    // Keys that JSON cannot hold.
    ("key-seq", Code::YamlNotJson),
    ("key-map", Code::YamlNotJson),
    ("key-explseq", Code::YamlNotJson),
    ("key-nan", Code::YamlNotJson),
    ("plain-brace-tpl", Code::YamlNotJson),
    // Blanks that hosts count as indentation in some places.
    ("tab-line", Code::YamlSyntax),
    ("block-indicator-blanks", Code::YamlSyntax),
    ("block-keep-nothing", Code::YamlSyntax),
    // What hosts read otherwise than YAML says, in some surroundings.
    ("comment-col0-flow-plain", Code::YamlSyntax),
    ("dq-escaped-eol-blank", Code::YamlSyntax),
    ("flow-question", Code::YamlSyntax),
    ("flow-anchor-only", Code::YamlSyntax),
    // Characters that are a line end for some.
    ("lone-cr", Code::YamlSyntax),
    ("ls-fence", Code::YamlSyntax),
    // A `:` with nothing before it.
    ("key-empty", Code::YamlSyntax),
    // Characters that YAML forbids or that nobody sees.
    ("bom-mid", Code::YamlSyntax),
    ("bom-line", Code::YamlSyntax),
    ("ctrl", Code::YamlSyntax),
    ("ctrl-quo", Code::YamlSyntax),
    ("nul", Code::NotUtf8),
    ("del", Code::YamlSyntax),
    ("astral-nonchar", Code::YamlSyntax),
    // Deeper than hosts look.
    ("deep-seq-200", Code::YamlDepth),
];

/// What the parser makes of a YAML text: its value, or the code of the refusal.
fn read(yaml: &str) -> Result<Value, Code> {
    let file = format!("---\n{yaml}\n---\n");
    frontmatter::parse(file.as_bytes()).map(|read| Value::Object(read.fields)).map_err(|problem| problem.code)
}

/// Equal as the hosts compare: numbers as doubles, members in any order.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => ours == theirs,
    }
}

#[test]
fn each_case_has_the_hosts_value_or_is_refused() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/yaml-cases.json")).unwrap();
    let mut wrong = Vec::new();
    let mut unused: Vec<&str> = REFUSED.iter().map(|(id, _)| *id).collect();
    // A line `---` is a fence here, whatever it is in YAML.
    let fenced = |case: &&Value| case["yaml"].as_str().unwrap().lines().all(|line| line != "---");
    for case in cases.iter().filter(fenced) {
        let id = case["id"].as_str().unwrap();
        unused.retain(|listed| *listed != id);
        let listed = REFUSED.iter().find(|(refused, _)| *refused == id).map(|(_, code)| *code);
        let ours = read(case["yaml"].as_str().unwrap());
        let right = match (case["npm"].as_str().unwrap(), &ours, listed) {
            ("value", Err(code), Some(listed)) => *code == listed,
            // A frontmatter without fields is none that names a skill.
            ("value", Ok(ours), None) if case["json"].is_null() => ours.as_object().unwrap().is_empty(),
            ("value", Ok(ours), None) => same(ours, &case["json"]),
            ("value", Err(Code::NotAMapping), None) => !case["json"].is_object(),
            ("value", _, _) => false,
            (_, ours, None) => ours.is_err(),
            _ => false,
        };
        if !right {
            wrong.push(format!("{id}: {ours:?}"));
        }
    }
    assert!(unused.is_empty(), "listed, but not among the cases: {unused:?}");
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
