package llm_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/callwright/callwright/agents/llm"
)

// FuzzParse checks that parse decodes each answer that it accepts as encoding/json does, and that any text that it returns with an error is
// valid JSON.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` [ 1 , -2.5e+3 , true , false , null ] `, `{"a":{"b":[{"c":"\u00e9\"\\ud83d"}]} , "d":""}`, `"\ud800x"`, `{"a":1,"a":2}`,
		`{"a":1,"\u0061":2}`, "\"\xff\"", `[1] [2]`, `{`, ``, `[1,]`, "```json\n{\"a\": 1}\n```", `1e400`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		raw, got, err := llm.Parse(answer)
		if err != nil {
			if raw != nil && !json.Valid(raw) {
				t.Errorf("%q is kept as %q", answer, raw)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %#v, want %#v, %v", raw, got, want, err)
		}
	})
}
