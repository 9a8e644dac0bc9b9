// Command check reads the output of govulncheck -format json for a module, and compares it with the vulnerabilities listed in a file. Only
// vulnerabilities in Go's library that require a newer toolchain may be listed. check fails for any other vulnerability in called code, and
// for a listed one that is no longer called.
//
//	govulncheck -format json ./... | check SECURITY.md
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// library is govulncheck's name for the standard library.
const library = "stdlib"

// fault is a vulnerability of a module, with the version that fixes it.
type fault struct{ id, module, version, mended string }

// String returns the id and module of the vulnerability, and the version that fixes it.
func (f fault) String() string {
	if f.mended == "" {
		return fmt.Sprintf("%s in %s %s, which no version mends", f.id, f.module, f.version)
	}
	return fmt.Sprintf("%s in %s %s, which %s mends", f.id, f.module, f.version, f.mended)
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: check FILE")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	called, idle, err := read(in)
	if err != nil {
		return err
	}
	for _, f := range idle {
		fmt.Fprintln(out, "not called:", f)
	}
	return compare(called, listed(string(text)))
}

// read returns the vulnerabilities in called code, and those in modules whose vulnerable code is not called. Both lists are sorted by id.
func read(in io.Reader) (called, idle []fault, err error) {
	calls := map[fault]bool{}
	scanned := false
	for d := json.NewDecoder(in); ; {
		var message struct {
			Config  *struct{} `json:"config"`
			Finding *struct {
				OSV     string `json:"osv"`
				Mended  string `json:"fixed_version"`
				Through []struct {
					Module   string `json:"module"`
					Version  string `json:"version"`
					Function string `json:"function"`
				} `json:"trace"`
			} `json:"finding"`
		}
		if err := d.Decode(&message); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("govulncheck's answer: %w", err)
		}
		scanned = scanned || message.Config != nil
		if f := message.Finding; f != nil && len(f.Through) > 0 {
			at := f.Through[0]
			key := fault{f.OSV, at.Module, at.Version, f.Mended}
			calls[key] = calls[key] || at.Function != ""
		}
	}
	if !scanned {
		return nil, nil, errors.New("govulncheck has said nothing")
	}
	for f, is := range calls {
		if is {
			called = append(called, f)
		} else {
			idle = append(idle, f)
		}
	}
	byID := func(a, b fault) int { return strings.Compare(a.id, b.id) }
	slices.SortFunc(called, byID)
	slices.SortFunc(idle, byID)
	return called, idle, nil
}

// row matches a row of the list: an id, and the Go version that fixes the vulnerability.
var row = regexp.MustCompile(`(?m)^\| \[?(GO-\d+-\d+)[^|]*\| (\d+\.\d+(?:\.\d+)?) \|`)

// listed maps the ids in the table of a text to the Go versions that fix them.
func listed(text string) map[string]string {
	list := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		list[m[1]] = "v" + m[2]
	}
	return list
}

// compare returns an error that names each called vulnerability that is not listed correctly, and each listed one that is not called.
func compare(called []fault, list map[string]string) error {
	var wrong []error
	seen := map[string]bool{}
	for _, f := range called {
		mended, is := list[f.id]
		seen[f.id] = true
		switch {
		case f.module != library:
			wrong = append(wrong, fmt.Errorf("called: %s", f))
		case !is:
			wrong = append(wrong, fmt.Errorf("called and not listed: %s", f))
		case mended != f.mended:
			wrong = append(wrong, fmt.Errorf("listed as mended by %s: %s", mended, f))
		}
	}
	for id := range list {
		if !seen[id] {
			wrong = append(wrong, fmt.Errorf("listed and called no more: %s: take it out of the list", id))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}
