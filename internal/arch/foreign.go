package arch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// generatedHome is the parent folder of the generated packages, one for each area of the contract.
const generatedHome = "transport/oas"

// generatedTable is the generated table of country calling codes in the root package.
const generatedTable = "numbering.go"

// maxScriptLine is the maximum length in bytes of a line in a page, style sheet or script. Longer lines indicate a minified file.
const maxScriptLine = 1000

var (
	// vendored lists the usual names of folders with copied code.
	vendored = []string{"vendor", "third_party", "thirdparty", "node_modules", "external"}

	// scripts lists the extensions of files that may be minified.
	scripts = []string{".js", ".mjs", ".css", ".html", ".svg"}

	// anyGenerated matches the mark of a generated file in any language, after any comment sign.
	anyGenerated = regexp.MustCompile(`(?m)^\W{0,5}(Code generated .*DO NOT EDIT|@generated)`)

	// pictures matches the screenshots of the dashboard for the documentation. A test creates them.
	pictures = regexp.MustCompile(`^docs/pictures/[a-z-]+\.png$`)

	// data maps the only committed binaries to the SHA-256 sums of their contents. Each comes from a script in scripts, and its folder
	// contains its license.
	data = map[string]string{
		"speech/activity/silero/weights.f16": "2371714c87453a206bb17d3bfcd4793bff00ef4669f26fdf3ea47e792677292a",
	}

	// notice matches a copyright notice. Our own source files contain none, because LICENSE applies to all.
	notice = regexp.MustCompile(`(?i)copyright (\(c\)|©|[12][0-9]{3})`)
)

// checkForeign reports files that are copied, generated outside of generatedHome, minified or binary, except for generatedTable, pictures
// and data.
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
	if sum, ok := data[f.path]; ok {
		if fmt.Sprintf("%x", sha256.Sum256(f.content)) != sum {
			return complain("differs from the file of its script: run the script again")
		}
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

// generated reports whether a tool wrote the file. In Go the mark precedes the package clause, in other files it is in the first 2000
// bytes.
func generated(f file) bool {
	if path.Ext(f.path) == ".go" {
		return generatedGo(f.content)
	}
	return anyGenerated.Match(f.content[:min(len(f.content), 2000)])
}
