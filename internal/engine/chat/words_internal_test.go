package chat

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWords checks the words and tool calls of answers, received whole and in pieces of any length.
func TestWords(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		thinking bool
		answer   string
		words    string
		calls    string
		broken   bool
	}{
		"plain":                   {answer: "Hi, a < b [and] more.", words: "Hi, a < b [and] more."},
		"white space first":       {answer: "\n\n Hi", words: "Hi"},
		"thoughts":                {answer: "<think>\nHm. <b>\n</think>\n\nHi", words: "Hi"},
		"thoughts between":        {answer: "One. <thinking>Hm.</thinking>Two.", words: "One. Two."},
		"thoughts alone":          {answer: "<think>Hm."},
		"Magistral":               {answer: "[THINK]Hm.[/THINK]Hi", words: "Hi"},
		"gpt-oss":                 {answer: "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>", words: "Hi"},
		"no first mark":           {answer: "Hm.</think>Hi", words: "Hm.Hi"}, // learned for the next answer
		"no first mark, known":    {thinking: true, answer: "Hm.</think>\nHi", words: "Hi"},
		"no thoughts though":      {thinking: true, answer: "Hi", words: "Hi"},
		"end of the answer":       {answer: "Hi<|im_end|>", words: "Hi"},
		"a call":                  {answer: `Look. <tool_call>{"name":"find","arguments":{"a":1}}</tool_call>`, words: "Look. ", calls: `find {"a":1};`},
		"two calls":               {answer: `<tool_call>{"name":"a","arguments":"{}"}</tool_call><tool_call>{"name":"b"}</tool_call>`, calls: "a {};b ;"},
		"a call without its end":  {answer: `<tool_call>{"name":"find","arguments":{}}`, calls: "find {};"},
		"Llama":                   {answer: `<|python_tag|>{"name":"find","parameters":{}}`, calls: "find {};"},
		"Llama, another":          {answer: `<function=find>{"a":1}</function>`, calls: `find {"a":1};`},
		"Mistral":                 {answer: `[TOOL_CALLS][{"name":"find","arguments":{}},{"name":"b","arguments":{}}]`, calls: "find {};b {};"},
		"Mistral, another":        {answer: `[TOOL_CALLS]find[ARGS]{"a":1}`, calls: `find {"a":1};`},
		"JSON alone":              {answer: `{"name":"find","parameters":{"a":1}}`, calls: `find {"a":1};`},
		"JSON in a list":          {answer: ` [{"name":"find","arguments":{}}]`, calls: "find {};"},
		"JSON that is no call":    {answer: `{"answer":"Hi"}`, broken: true},
		"a broken call":           {answer: `<tool_call>find</tool_call>`, broken: true},
		"a bracket first":         {answer: `[laughs] Hi`, words: "[laughs] Hi"},
		"JSON after words":        {answer: `Hi.<think>Hm.</think> {"a":1}`, words: `Hi. {"a":1}`},
		"many marks":              {answer: "[<<think>a</thin</think>b<|im_en<[THINK]c<[/THINK]<d", words: "[<b<|im_en<<d"},
		"the beginning of a mark": {answer: "Hi <thin", words: "Hi <thin"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := Words{Thinking: tt.thinking}
				var said strings.Builder
				for rest := tt.answer; rest != ""; {
					n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
					said.WriteString(w.add(rest[:n]))
					rest = rest[n:]
				}
				got := said.String() + w.finish()
				calls := ""
				for _, c := range w.calls {
					calls += fmt.Sprintf("%s %s;", c.Name, c.Arguments)
				}
				if got != tt.words || calls != tt.calls || w.broken != tt.broken {
					t.Errorf("words %q, calls %s, broken %v", got, calls, w.broken)
				}
			})
		})
	}
}

// TestLongWithheld checks that text that is withheld costs memory in proportion to its length, however many pieces it arrives in.
func TestLongWithheld(t *testing.T) { //nolint:paralleltest // measures the memory that the process allocates
	for _, first := range []string{`{"a":"`, "<think>", "<tool_call>"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := Words{}
		w.add(first)
		for range 20_000 {
			w.add("word ")
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
			t.Errorf("%s: %d bytes were allocated", first, used)
		}
	}
}
