package sqldb

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzAppendJSON checks that the SQL literal contains the document unchanged, except that an escaped NUL becomes the text of its escape.
func FuzzAppendJSON(f *testing.F) {
	for _, text := range []string{"", "it's", `\u0000`, `"\u0000"`, "a\x00b", `\'`, `\\u0000`, `\` + "\x00", "'); --"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		written := string(appendJSON(nil, document))
		inner, begun := strings.CutPrefix(written, "'")
		inner, ended := strings.CutSuffix(inner, "'")
		if !begun || !ended || strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
			t.Fatalf("%q is no text of SQL", written)
		}
		var got, want string
		if err := json.Unmarshal([]byte(strings.ReplaceAll(inner, "''", "'")), &got); err != nil {
			t.Fatalf("%q: %v", written, err)
		}
		if err := json.Unmarshal(document, &want); err != nil {
			t.Fatal(err)
		}
		if want = strings.ReplaceAll(want, "\x00", `\u0000`); got != want {
			t.Errorf("%q was written as %q", want, got)
		}
	})
}
