package tts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/speech/tts"
)

// chunks returns the chunks of a text that is written in pieces of up to size bytes.
func chunks(text string, size int) []string {
	var c tts.Chunker
	var out []string
	for len(text) > 0 {
		n := min(size, len(text))
		out = append(out, c.Write(text[:n])...)
		text = text[n:]
	}
	return append(out, c.Flush()...)
}

func TestChunker(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 100))
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":       {"", nil},
		"blanks":        {" \n ", nil},
		"one":           {"Hello there", []string{"Hello there"}},
		"two":           {"Hello. How are you?", []string{"Hello.", "How are you?"}},
		"marks":         {"What?! No… Yes!", []string{"What?!", "No…", "Yes!"}},
		"decimal":       {"It is 3.50 euros. Fine.", []string{"It is 3.50 euros.", "Fine."}},
		"address":       {"Write to a.b@example.com today. Thanks.", []string{"Write to a.b@example.com today.", "Thanks."}},
		"title":         {"Dr. Smith and Mrs. J. Jones are in. Come.", []string{"Dr. Smith and Mrs. J. Jones are in.", "Come."}},
		"latin":         {"Bring it, e.g. today. Yes.", []string{"Bring it, e.g. today.", "Yes."}},
		"no":            {"No. Never.", []string{"No.", "Never."}},
		"number":        {"Take room No. 5 there. Good.", []string{"Take room No. 5 there.", "Good."}},
		"I":             {"It is I. Hello.", []string{"It is I.", "Hello."}},
		"quotes":        {`He said "Stop." Then he left.`, []string{`He said "Stop."`, "Then he left."}},
		"brackets":      {"(Yes.) No.", []string{"(Yes.)", "No."}},
		"lines":         {"One\nTwo\n\nThree", []string{"One", "Two", "Three"}},
		"early clause":  {"I would be happy to help you, and I will. First, tell me, please, who you are.", []string{"I would be happy to help you,", "and I will.", "First, tell me, please, who you are."}},
		"short clause":  {"Well, all right. Go.", []string{"Well, all right.", "Go."}},
		"thousands":     {"That makes exactly about 1,000,000 euros. Fine.", []string{"That makes exactly about 1,000,000 euros.", "Fine."}},
		"ideographs":    {"你好。再见！", []string{"你好。", "再见！"}},
		"no end":        {long, []string{strings.TrimSpace(long[:280]), long[280:]}},
		"long clauses":  {strings.Repeat("x", 200) + ", " + strings.Repeat("y", 100), []string{strings.Repeat("x", 200) + ",", strings.Repeat("y", 100)}},
		"no blank even": {strings.Repeat("x", 300), []string{strings.Repeat("x", 281), strings.Repeat("x", 19)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 3, 7, 1000} {
				if got := chunks(c.text, size); !slices.Equal(got, c.want) {
					t.Errorf("in pieces of %d: %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// TestChunkerManyMarks splits a text that consists of marks only. If each mark searched for the end of its row, the test would take hours.
func TestChunkerManyMarks(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{".", "!\"", "?)"} {
		text := strings.Repeat(mark, 4<<20/len(mark))
		got := chunks(text, len(text))
		if strings.Join(got, "") != text || len(got[0]) > 284 {
			t.Errorf("%d marks are %d chunks, the first of %d", len(text), len(got), len(got[0]))
		}
	}
}

// TestChunkerIsEarly checks that a sentence is returned as soon as it is complete, and that the first clause is returned before its
// sentence is complete.
func TestChunkerIsEarly(t *testing.T) {
	t.Parallel()
	var c tts.Chunker
	for _, step := range []struct {
		piece string
		want  []string
	}{
		{"I will see what I can do", nil},
		{", ", []string{"I will see what I can do,"}},
		{"one moment.", nil},
		{" ", []string{"one moment."}},
		{"It costs 3.", nil},
		{"50.\n", []string{"It costs 3.50."}},
	} {
		if got := c.Write(step.piece); !slices.Equal(got, step.want) {
			t.Errorf("%q gives %q, want %q", step.piece, got, step.want)
		}
	}
}

func FuzzChunker(f *testing.F) {
	f.Add("Hello. How are you, Dr. Smith? It is 3.50, No. 5.", 3)
	f.Add(strings.Repeat("word, ", 100), 10)
	f.Add("\xff\xfe. a\u3002b", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, size%100)
		got := chunks(text, size)
		if strings.Join(strings.Fields(strings.Join(got, " ")), "") != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q became %q", text, got)
		}
		for _, c := range got {
			if c == "" || strings.TrimSpace(c) != c || len(c) > 290 {
				t.Errorf("a chunk is %q", c)
			}
		}
	})
}
