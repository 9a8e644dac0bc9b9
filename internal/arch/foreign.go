package arch

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// generatedHome is the one folder of generated code, which has a package for each area of the contract.
const generatedHome = "transport/oas"

// generatedTable is the table of country codes in the root package, facts that a library keeps.
const generatedTable = "numbering.go"

// maxScriptLine is the longest line, in bytes, of a page, style sheet or script that a person wrote.
const maxScriptLine = 1000

var (
	// vendored are folders in which other people's code is usually copied.
	vendored = []string{"vendor", "third_party", "thirdparty", "node_modules", "external"}

	// scripts are the kinds of files that come minified.
	scripts = []string{".js", ".mjs", ".css", ".html", ".svg"}

	// anyGenerated is the mark of a generated file of any language, behind any comment sign.
	anyGenerated = regexp.MustCompile(`(?m)^\W{0,5}(Code generated .*DO NOT EDIT|@generated)`)

	// pictures are screenshots of the dashboard that a test takes for its documentation.
	pictures = regexp.MustCompile(`^docs/pictures/[a-z-]+\.png$`)

	// notice matches a copyright notice in a source file; ours have none, because LICENSE applies to all.
	notice = regexp.MustCompile(`(?i)copyright (\(c\)|©|[12][0-9]{3})`)
)

// checkForeign reports a file that was not written here.
func checkForeign(f file) []Violation {
	home := path.Dir(path.Dir(f.path)) == generatedHome
	complain := func(text string) []Violation { return []Violation{{Path: f.path, Text: text}} }
	for element := range strings.SplitSeq(path.Dir(f.path), "/") {
		if slices.Contains(vendored, element) {
			return complain("lies in a folder for other people's code: a dependency comes from its registry")
		}
	}
	if pictures.MatchString(f.path) {
		return nil
	}
	if bytes.IndexByte(f.content, 0) >= 0 || !utf8.Valid(f.content) {
		return complain("is binary: make it when it is needed")
	}
	if generated(f) && !home && f.path != generatedTable {
		return complain("is generated: only " + generatedHome + " and " + generatedTable + " hold generated code")
	}
	if strings.Contains(path.Base(f.path), ".min.") || strings.HasSuffix(f.path, ".map") {
		return complain("is minified, or the map of something minified: a dependency comes from its registry")
	}
	if slices.Contains(scripts, path.Ext(f.path)) {
		for line := range bytes.Lines(f.content) {
			if len(line) > maxScriptLine {
				return complain(fmt.Sprintf("has a line of %d bytes, as if minified", len(line)))
			}
		}
	}
	if path.Ext(f.path) != ".md" && f.path != "LICENSE" && notice.Match(f.content) {
		return complain("has a copyright notice: copied code is not committed, and our own files carry none")
	}
	return nil
}

// generated reports whether a tool wrote the file: in Go by the mark before the package clause, elsewhere by a mark in its
// first lines.
func generated(f file) bool {
	if path.Ext(f.path) == ".go" {
		return generatedGo(f.content)
	}
	return anyGenerated.Match(f.content[:min(len(f.content), 2000)])
}
