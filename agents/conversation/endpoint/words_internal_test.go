package endpoint

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/conversation/words"
)

// TestFiles checks that every file has all sections, that no section is empty, and that no phrase occurs twice as an ending: folding makes
// different words equal, such as "está" and "esta".
func TestFiles(t *testing.T) {
	t.Parallel()
	names, err := files.ReadDir("words")
	if err != nil || len(names) != 7 {
		t.Fatalf("%d files (%v), want 7", len(names), err)
	}
	for _, name := range names {
		text, err := files.ReadFile(filepath.Join("words", name.Name()))
		if err != nil {
			t.Fatal(err)
		}
		phrases, seen, section := map[string]int{}, map[string]string{}, ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if line[0] == '[' {
				section = line
				continue
			}
			for phrase := range strings.SplitSeq(line, ",") {
				key := strings.Join(words.Fold(phrase), " ")
				if key == "" {
					t.Errorf("%s %s: empty phrase in %q", name.Name(), section, line)
				}
				phrases[section]++
				if _, ok := endings[section]; !ok {
					continue
				}
				if former := seen[key]; former != "" {
					t.Errorf("%s: %q is in %s and in %s", name.Name(), phrase, former, section)
				}
				seen[key] = section
			}
		}
		for _, section := range []string{"[unfinished]", "[perhaps]", "[hesitation]", "[finished]", "[subject]", "[answer]", "[month]", "[day]", "[dot]"} {
			if phrases[section] == 0 {
				t.Errorf("%s has no %s", name.Name(), section)
			}
			delete(phrases, section)
		}
		if (phrases["[clause]"] > 0) != (phrases["[verb]"] > 0) {
			t.Errorf("%s has one of [clause] and [verb]", name.Name())
		}
		delete(phrases, "[clause]") // of languages whose clauses end with their verb
		delete(phrases, "[verb]")
		if len(phrases) > 0 {
			t.Errorf("%s has unknown sections: %v", name.Name(), phrases)
		}
	}
}
