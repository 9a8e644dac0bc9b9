package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// mark is a pair of marks in a model's text, or, with an empty end, a mark whose section lasts until the end of the text.
type mark struct {
	start, end string
	calls      bool // whether the section contains tool calls; otherwise its text is dropped
}

// marks lists the sections that chat templates write into the text of an answer: thoughts and tool calls, unless the server separates them,
// and marks of the end. No mark is a prefix of another one.
var marks = []mark{
	{start: "<think>", end: orphan},                                     // DeepSeek, Qwen, Nemotron
	{start: "<thinking>", end: "</thinking>"},                           // Granite
	{start: "<thought>", end: "</thought>"},                             // Gemma
	{start: "<reasoning>", end: "</reasoning>"},                         // several
	{start: "<seed:think>", end: "</seed:think>"},                       // Seed-OSS
	{start: "[THINK]", end: "[/THINK]"},                                 // Magistral
	{start: "<|channel|>analysis", end: "<|end|>"},                      // gpt-oss
	{start: "<|channel|>commentary", end: "<|end|>"},                    // gpt-oss
	{start: "<|channel|>final", end: "<|message|>"},                     // gpt-oss: the answer follows
	{start: "<|start|>", end: "<|message|>"},                            // gpt-oss: names the sender of the section that follows
	{start: "<tool_call>", end: "</tool_call>", calls: true},            // Qwen, Hermes
	{start: "<function=", end: "</function>", calls: true},              // Llama
	{start: "<|python_tag|>", calls: true},                              // Llama
	{start: "[TOOL_CALLS]", calls: true},                                // Mistral
	{start: "<|return|>"}, {start: "<|im_end|>"}, {start: "<|eot_id|>"}, // ends of answers
	{start: "<|endoftext|>"}, {start: "<|end|>"},
}

// orphan is the mark that ends thoughts. The chat template of some models, such as DeepSeek R1, contains the first mark already, so that
// only this one stands in the answer.
const orphan = "</think>"

// Words separates the words of a streamed answer from thoughts, tool calls and marks between them.
type Words struct {
	Thinking bool // whether the answer begins with thoughts without a mark
	Ended    bool // whether thoughts without a first mark have ended

	begun  bool           // whether words were returned
	calls  []llm.ToolCall // tool calls in the text, without ids
	broken bool           // whether the text contains a tool call that cannot be parsed

	rest    string // received text that is not yet decided
	section *mark  // section that rest belongs to; nil outside of sections
}

// add returns the words that have become certain with the next piece of the answer.
func (w *Words) add(piece string) string {
	w.rest += piece
	var out strings.Builder
	for w.step(&out) {
	}
	return w.trim(out.String())
}

// trim removes white space before the first words.
func (w *Words) trim(said string) string {
	if !w.begun {
		said = strings.TrimLeft(said, " \t\r\n")
		w.begun = said != ""
	}
	return said
}

// step decides the next part of rest and writes its words to out. It reports whether there may be more to decide.
func (w *Words) step(out *strings.Builder) bool {
	switch {
	case w.Thinking:
		_, after, found := strings.Cut(w.rest, orphan)
		if found {
			w.rest, w.Thinking, w.Ended = after, false, true
		}
		return found
	case w.section != nil:
		return w.inSection()
	case w.isJSON():
		return false
	}
	at, found := len(w.rest), (*mark)(nil)
	for i := range marks {
		if j := strings.Index(w.rest, marks[i].start); j >= 0 && j < at {
			at, found = j, &marks[i]
		}
	}
	if j := strings.Index(w.rest, orphan); j >= 0 && j < at {
		out.WriteString(w.rest[:j])
		w.rest, w.Ended = w.rest[j+len(orphan):], true
		return true
	}
	if found == nil {
		at -= w.unsure()
	}
	out.WriteString(w.rest[:at])
	w.rest = w.rest[at:]
	if found == nil {
		return false
	}
	w.rest, w.section = w.rest[len(found.start):], found
	return true
}

// inSection decides the text of a section, and reports whether the section has ended.
func (w *Words) inSection() bool {
	if w.section.end == "" {
		return false
	}
	text, after, found := strings.Cut(w.rest, w.section.end)
	if found {
		w.end(text)
		w.rest = after
	}
	return found
}

// end ends a section with the given text.
func (w *Words) end(text string) {
	if w.section.calls {
		w.parse(text)
	}
	w.section = nil
}

// parse adds the tool calls in a text.
func (w *Words) parse(text string) {
	calls, err := parseCalls(text)
	w.calls, w.broken = append(w.calls, calls...), w.broken || err != nil
}

// isJSON reports whether the answer begins as a JSON object or an array of objects. No answer for a telephone does; it is a tool call that
// the server has not recognized.
func (w *Words) isJSON() bool {
	text := strings.TrimLeft(w.rest, " \t\r\n")
	return !w.begun && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{"))
}

// unsure returns the length of the longest end of rest with which a mark may begin.
func (w *Words) unsure() int {
	longest := 0
	consider := func(start string) {
		for n := min(len(start)-1, len(w.rest)); n > longest; n-- {
			if strings.HasSuffix(w.rest, start[:n]) {
				longest = n
			}
		}
	}
	for i := range marks {
		consider(marks[i].start)
	}
	consider(orphan)
	if !w.begun && strings.TrimLeft(w.rest, " \t\r\n") == "[" {
		return len(w.rest) // a "{" may follow
	}
	return longest
}

// finish returns the words that the end of the answer makes certain.
func (w *Words) finish() string {
	rest := w.rest
	switch {
	case w.section != nil:
		w.end(rest)
		rest = ""
	case w.isJSON():
		w.parse(rest)
		rest = ""
	}
	w.rest = ""
	return w.trim(rest) // with Thinking, thoughts that do not end are the answer
}

// errNoCall reports a text that should be a tool call and is none.
var errNoCall = errors.New("the text contains no tool call")

// named matches a tool call whose arguments stand behind its name: "<function=NAME>{}" of Llama and "NAME[ARGS]{}" of Mistral.
var named = regexp.MustCompile(`^([\w.:/-]+)\s*(?:>|\[ARGS\])\s*(\{.*)$`)

// parseCalls parses tool calls in one of the forms that models write: JSON objects with a name and arguments, one after the other or in an
// array, or a name before its arguments.
func parseCalls(text string) ([]llm.ToolCall, error) {
	text = strings.TrimSpace(text)
	if m := named.FindStringSubmatch(strings.ReplaceAll(text, "\n", " ")); m != nil && json.Valid([]byte(m[2])) {
		return []llm.ToolCall{{Name: m[1], Arguments: json.RawMessage(m[2])}}, nil
	}
	type call struct {
		Name       string    `json:"name"`
		Arguments  Arguments `json:"arguments"`
		Parameters Arguments `json:"parameters"`
	}
	var calls []llm.ToolCall
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) && len(calls) > 0 {
			return calls, nil
		}
		if err != nil {
			return calls, errNoCall
		}
		if !bytes.HasPrefix(raw, []byte("[")) {
			raw = append(append([]byte("["), raw...), ']')
		}
		var some []call
		if json.Unmarshal(raw, &some) != nil {
			return calls, errNoCall
		}
		for _, c := range some {
			if c.Name == "" {
				return calls, errNoCall
			}
			calls = append(calls, llm.ToolCall{Name: c.Name, Arguments: json.RawMessage(c.Arguments + c.Parameters)})
		}
	}
}

// WithoutThoughts returns an answer without the thoughts before it. What stands inside of a JSON value is never a thought.
func WithoutThoughts(answer string) string {
	for {
		answer = strings.TrimSpace(answer)
		if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[{") {
			return answer
		}
		cut := false
		for _, m := range marks {
			if strings.HasPrefix(answer, m.start) && !m.calls && m.end != "" {
				_, answer, _ = strings.Cut(answer, m.end)
				cut = true
				break
			}
		}
		if _, after, found := strings.Cut(answer, orphan); found && !cut {
			answer, cut = after, true
		}
		if !cut {
			return answer
		}
	}
}
