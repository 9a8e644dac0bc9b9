// Package guide reads the instructions for newcomers in the README and the pages in docs: the commands of their sh blocks, and the clicks of a
// walk through the dashboard. Tests do it.
package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Block is a block of shell commands.
type Block struct {
	Line  int    // of its first command, from 1
	Code  string // its commands
	Why   string // why it is not run; empty: it is
	RunBy string // the file or the test that runs it instead of the test of the pages; empty: none
}

// Step is something to do in the dashboard.
type Step struct {
	Line   int
	Value  string // to type or to choose; empty: the label is to be clicked at
	Label  string // of a field, a link or a button
	Appear string // a text that appears; then there is no label
}

// mark matches the comment before a block that is not run, with the reason, or that a named test runs.
var mark = regexp.MustCompile(`^<!-- (not run|run by): (.+) -->$`)

// fence is the beginning of a block of code.
var fence = regexp.MustCompile("^```([a-z]*)$")

// Blocks returns the sh blocks of a page. Blocks of commands in another name for the shell, and marks before no block, are errors.
func Blocks(page string) (blocks []Block, err error) {
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		if mark.MatchString(lines[i]) && (i+1 == len(lines) || lines[i+1] != "```sh") {
			return nil, fmt.Errorf("line %d: a mark that is not right before a sh block", i+1)
		}
		begin := fence.FindStringSubmatch(lines[i])
		if begin == nil {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		switch begin[1] {
		case "sh":
			b := Block{Line: i + 2, Code: strings.Join(lines[i+1:end], "\n")}
			if m := mark.FindStringSubmatch(lines[max(0, i-1)]); m != nil && m[1] == "not run" {
				b.Why = m[2]
			} else if m != nil {
				b.RunBy = m[2]
			}
			blocks = append(blocks, b)
		case "bash", "shell", "console":
			return nil, fmt.Errorf("line %d: a block of commands is named sh", i+1)
		}
		i = end
	}
	return blocks, nil
}

// action matches an instruction in a sentence: a value and the field that it goes into, a label to click at, or a text that appears.
var action = regexp.MustCompile("(?:(?:`([^`]+)`|(the key))\\s+(?:into|in)\\s+)?\\*\\*([^*]+)\\*\\*|\\*([^*]+)\\*")

// Key stands for the API key as the value of a step.
const Key = "the key"

// numbered is the beginning of a numbered item of a list.
var numbered = regexp.MustCompile(`^\d+\. `)

// Steps returns the steps of the numbered items below a heading, up to the next block or heading.
func Steps(page, heading string) (steps []Step) {
	lines := strings.Split(page, "\n")
	begin := slices.Index(lines, heading)
	if begin < 0 {
		return nil
	}
	for i := begin + 1; i < len(lines) && !strings.HasPrefix(lines[i], "#"); i++ {
		if !numbered.MatchString(lines[i]) {
			continue
		}
		item := []string{lines[i]}
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "   ") {
			i++
			item = append(item, strings.TrimSpace(lines[i]))
		}
		for _, m := range action.FindAllStringSubmatch(strings.Join(item, " "), -1) {
			steps = append(steps, Step{Line: i + 1, Value: m[1] + m[2], Label: m[3], Appear: m[4]})
		}
	}
	return steps
}

// Pages returns the README and the pages of docs of a tree, as paths below its root.
func Pages(root string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	names := []string{"README.md"}
	for _, page := range pages {
		names = append(names, filepath.Join("docs", filepath.Base(page)))
	}
	return names, err
}

// Read returns the text of a page of a tree.
func Read(root, page string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	return string(text), err
}
