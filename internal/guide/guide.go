// Package guide parses the instructions for new users in the README and the pages in docs: the commands of their sh blocks, and the steps
// of a walk through the dashboard. Tests execute them.
package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Block is a block of shell commands in a page.
type Block struct {
	Line  int    // line of its first command, counted from 1
	Code  string // the commands
	Why   string // reason not to run it; empty if it is run
	RunBy string // file or test that runs it instead of the test of the pages; may be empty
}

// Step is an action in the dashboard, or a text to wait for.
type Step struct {
	Line   int
	Value  string // value to type or choose; if empty, click the label
	Label  string // label of a field, link or button
	Appear string // text to wait for; Label is then empty
}

// mark matches the comment before a block that is not run, with the reason, or that another test runs, with the test's name.
var mark = regexp.MustCompile(`^<!-- (not run|run by): (.+) -->$`)

// fence matches the first line of a code block.
var fence = regexp.MustCompile("^```([a-z]*)$")

// Blocks returns the sh blocks of a page. It returns an error for a block that is named bash, shell or console instead of sh, and for a
// mark without a following sh block.
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

// action matches an instruction in a sentence: a value and the field to enter it into, a label to click, or a text to wait for.
var action = regexp.MustCompile("(?:(?:`([^`]+)`|(the key))\\s+(?:into|in)\\s+)?\\*\\*([^*]+)\\*\\*|\\*([^*]+)\\*")

// Key is the Value of a step that enters the API key.
const Key = "the key"

// numbered matches the beginning of a numbered list item.
var numbered = regexp.MustCompile(`^\d+\. `)

// Steps returns the steps in the numbered items below a heading, up to the next heading. It returns nil if the page lacks the heading.
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

// Pages returns the paths of README.md and of the pages in docs, relative to root.
func Pages(root string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	names := []string{"README.md"}
	for _, page := range pages {
		names = append(names, filepath.Join("docs", filepath.Base(page)))
	}
	return names, err
}

// Read returns the text of a page. page is relative to root.
func Read(root, page string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	return string(text), err
}
