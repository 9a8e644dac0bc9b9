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
// and marks of the end. Each begins with a character of brackets, and none is a prefix of another one.
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

const (
	brackets = "<["      // the characters with which marks begin
	space    = " \t\r\n" // white space before an answer
)

// Words separates the words of a streamed answer from thoughts, tool calls and marks between them.
type Words struct {
	Thinking bool // whether the answer begins with thoughts without a mark
	Ended    bool // whether thoughts without a first mark have ended

	begun  bool           // whether words were returned
	calls  []llm.ToolCall // tool calls in the text, without ids
	broken bool           // whether the text contains a tool call that cannot be parsed

	rest     []byte // received text that is not yet decided
	searched int    // bytes of rest that were searched for the mark that ends the thoughts or the section
	section  *mark  // section that rest belongs to; nil outside of sections
}

// add returns the words that have become certain with the next piece of the answer.
func (w *Words) add(piece string) string {
	w.rest = append(w.rest, piece...)
	var out strings.Builder
	for w.step(&out) {
	}
	return out.String()
}

// trim removes white space before the first words.
func (w *Words) trim(said []byte) string {
	if !w.begun {
		said = bytes.TrimLeft(said, space)
		w.begun = len(said) > 0
	}
	return string(said)
}

// step decides the next part of rest and writes its words to out. It reports whether there may be more to decide.
func (w *Words) step(out *strings.Builder) bool {
	switch {
	case w.Thinking:
		_, found := w.until(orphan)
		if found {
			w.Thinking, w.Ended = false, true
		}
		return found
	case w.section != nil:
		return w.inSection()
	case !w.begun:
		w.rest = bytes.TrimLeft(w.rest, space)
		if w.isJSON() {
			return false
		}
	}
	at, start, found := next(w.rest)
	out.WriteString(w.trim(w.rest[:at]))
	w.rest, w.section = w.rest[at+len(start):], found
	w.Ended = w.Ended || start == orphan
	return start != ""
}

// next returns the index and the text of the first mark, and the section that the mark begins; section is nil for orphan. If the text contains no
// mark, start is empty, and at is the index of an incomplete mark at the end of the text, or the length of the text.
func next(text []byte) (at int, start string, section *mark) {
	for ; ; at++ {
		i := bytes.IndexAny(text[at:], brackets)
		if i < 0 {
			return len(text), "", nil
		}
		at += i
		rest := text[at:]
		unsure := begins(orphan, rest)
		if bytes.HasPrefix(rest, []byte(orphan)) {
			return at, orphan, nil
		}
		for j, m := range marks {
			if bytes.HasPrefix(rest, []byte(m.start)) {
				return at, m.start, &marks[j]
			}
			unsure = unsure || begins(m.start, rest)
		}
		if unsure {
			return at, "", nil
		}
	}
}

// begins reports whether a mark may begin with the text.
func begins(start string, text []byte) bool {
	return len(text) < len(start) && start[:len(text)] == string(text)
}

// until removes the text before a mark from rest, and the mark. It returns the text, which is valid until the next call of add, and whether
// rest contains the mark. It does not search the same bytes in later calls.
func (w *Words) until(end string) ([]byte, bool) {
	from := max(0, w.searched-len(end)+1)
	i := bytes.Index(w.rest[from:], []byte(end))
	if i < 0 {
		w.searched = len(w.rest)
		return nil, false
	}
	text := w.rest[:from+i]
	w.rest, w.searched = w.rest[from+i+len(end):], 0
	return text, true
}

// inSection decides the text of a section, and reports whether the section has ended.
func (w *Words) inSection() bool {
	if w.section.end == "" {
		return false
	}
	text, found := w.until(w.section.end)
	if found {
		w.end(text)
	}
	return found
}

// end ends a section with the given text.
func (w *Words) end(text []byte) {
	if w.section.calls {
		w.parse(string(text))
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
	text := bytes.TrimLeft(w.rest, space)
	return !w.begun && (bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[{")))
}

// finish returns the words that the end of the answer makes certain.
func (w *Words) finish() string {
	rest := w.rest
	switch {
	case w.section != nil:
		w.end(rest)
		rest = nil
	case w.isJSON():
		w.parse(string(rest))
		rest = nil
	}
	w.rest = nil
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
		if !cut {
			if _, after, found := strings.Cut(answer, orphan); found {
				answer, cut = after, true
			}
		}
		if !cut {
			return answer
		}
	}
}
