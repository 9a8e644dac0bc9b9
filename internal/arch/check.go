package arch

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Violation is one place in the source tree that breaks a rule.
type Violation struct {
	Path string // slash-separated, relative to the root of the tree
	Line int    // 0 if the rule applies to the whole file or folder
	Text string // the fault and its remedy
}

// String returns the violation in the format of a compiler error.
func (v Violation) String() string {
	if v.Line == 0 {
		return fmt.Sprintf("%s: %s", v.Path, v.Text)
	}
	return fmt.Sprintf("%s:%d: %s", v.Path, v.Line, v.Text)
}

// Report is the result of Check: the violations, and how many exported names are documented.
type Report struct {
	Violations []Violation // sorted by path and line
	Packages   int         // number of checked packages
	Exported   int         // number of exported names, without tests and programs
	Documented int         // number of exported names with a comment
}

// Check parses the source tree and applies every rule. It returns an error if the tree cannot be read or parsed.
func Check(fsys fs.FS) (Report, error) {
	t, err := load(fsys)
	if err != nil {
		return Report{}, err
	}
	report := Report{Packages: len(t.packages)}
	for _, f := range t.files {
		report.Violations = append(report.Violations, checkForeign(f)...)
		report.Violations = append(report.Violations, checkModule(f)...)
	}
	report.Violations = append(report.Violations, checkMaps(t)...)
	for _, p := range t.packages {
		report.Violations = append(report.Violations, checkName(p)...)
		report.Violations = append(report.Violations, checkPackageComment(p)...)
		report.Violations = append(report.Violations, checkService(p)...)
		report.Violations = append(report.Violations, checkExamples(p)...)
		report.Violations = append(report.Violations, checkConfigs(p)...)
		for _, f := range p.files {
			report.Violations = append(report.Violations, checkImports(p, f)...)
			report.Violations = append(report.Violations, checkSize(f)...)
			report.Violations = append(report.Violations, checkSleep(f)...)
			report.Violations = append(report.Violations, checkVerbs(f)...)
			report.Violations = append(report.Violations, checkAtomic(p, f)...)
			report.Violations = append(report.Violations, checkEmbedding(f)...)
		}
	}
	report.checkExported(t.packages)
	slices.SortFunc(report.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return report, nil
}
