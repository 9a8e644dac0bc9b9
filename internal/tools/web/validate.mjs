// Validates HTML documents. Standard input is a JSON object of documents by their names, standard output a JSON list of faults.
import { readFileSync } from "node:fs";
import { HtmlValidate, StaticConfigLoader } from "html-validate";

const config = {
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // HTML does not tell <!doctype html> from <!DOCTYPE html>.
    "doctype-style": "off",
    // Actions of html/template leave blanks at the ends of lines, which no reader sees.
    "no-trailing-whitespace": "off",
    // HTML defines both: a button submits, and an input takes text.
    "no-implicit-button-type": "off",
    "no-implicit-input-type": "off",
    // Buttons and boxes of a form may share a name: HTML sends those that are pressed or ticked.
    "form-dup-name": "off",
    // It counts the escapes of a title, too; the layout cuts titles.
    "long-title": "off",
    // A region that scrolls may be a div with a role.
    "prefer-native-element": "off",
  },
};

const validator = new HtmlValidate(new StaticConfigLoader(config));
const faults = [];
for (const [page, html] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const report = await validator.validateString(html, page);
  for (const result of report.results) {
    for (const { line, column, ruleId, message } of result.messages) {
      faults.push({ page, line, column, rule: ruleId, message });
    }
  }
}
console.log(JSON.stringify(faults));
