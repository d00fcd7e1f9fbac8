//! The JSON Schema for editors and the checker come from one table; here they are held together.

use remit_manifest::compile::{self, Options};
use remit_manifest::dialect;
use remit_model::{Dialect, Severity};

fn validator(dialect: Dialect) -> jsonschema::Validator {
    let schema = dialect::json_schema(dialect);
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn every_dialects_schema_is_itself_valid_and_documented() {
    for dialect in Dialect::ALL {
        let schema = dialect::json_schema(dialect);
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", dialect.as_str());
        let properties = schema["properties"].as_object().unwrap();
        assert!(!properties.is_empty());
        for (name, property) in properties {
            assert!(property["description"].as_str().is_some_and(|d| d.len() > 10), "{name}");
        }
    }
}

#[test]
fn what_the_checker_finds_fine_the_schema_finds_fine() {
    for dialect in Dialect::ALL {
        let Some(scaffold) = dialect::scaffold(dialect) else { continue };
        let checked = compile::check(scaffold.as_bytes(), Options::default());
        assert_eq!(checked.dialect, Some(dialect));
        assert_eq!(checked.diagnostics, [], "{}", dialect.as_str());
        let value = checked.tree().unwrap().to_json();
        let validator = validator(dialect);
        let errors: Vec<_> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", dialect.as_str());
        // Every field left out: the two must agree on whether it was needed.
        for key in value.as_object().unwrap().keys() {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(key);
            let options = Options { dialect: Some(dialect), ..Options::default() };
            let checked = compile::check(less.to_string().as_bytes(), options);
            let missing = checked.diagnostics.iter().any(|d| {
                d.rule == "missing-field" && d.pointer.is_empty() && d.severity == Severity::Error
            });
            assert_eq!(missing, !validator.is_valid(&less), "{} without {key}", dialect.as_str());
        }
    }
}
