// Command check reads the output of govulncheck -format json for a module, and compares it with the faults in a file: faults of
// Go's library that only a newer toolchain mends. It fails for any other fault that is called, and for one in the list that is
// called no more.
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

// library is the module that govulncheck gives for packages of Go itself.
const library = "stdlib"

// fault is a known fault of a module.
type fault struct{ id, module, version, mended string }

// String returns the fault and the version that mends it.
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

// read returns the called faults, and the faults of modules that are not called.
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

// row matches a row of the list: an id, and the version of Go that mends it.
var row = regexp.MustCompile(`(?m)^\| \[?(GO-\d+-\d+)[^|]*\| (\d+\.\d+(?:\.\d+)?) \|`)

// listed returns the version that mends each fault of a text's table.
func listed(text string) map[string]string {
	list := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		list[m[1]] = "v" + m[2]
	}
	return list
}

// compare returns an error that names each fault that is not as listed.
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
