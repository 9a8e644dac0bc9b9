package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// recording is a line of the file. It has parts or an answer.
type recording struct {
	Key     string          `json:"key"`     // SHA-256 of the request, in hexadecimal
	Took    float64         `json:"took_ms"` // until the end of the answer
	Parts   []part          `json:"parts,omitzero"`
	Answer  *answer         `json:"answer,omitempty"`
	Request json.RawMessage `json:"request"`
}

// part is an llm.ReplyPart in the file.
type part struct {
	Text   string     `json:"text,omitempty"`
	Action llm.Action `json:"action,omitempty"`
	Call   *call      `json:"call,omitempty"`
	Expect []string   `json:"expect,omitempty"`
	Usage  *usage     `json:"usage,omitempty"`
}

// usage is an llm.Usage in the file.
type usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// call is an llm.ToolCall in the file. Arguments may be anything, so they are a text.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// answer is an llm.Answer in the file. The model's output may be anything, so it is stored as text.
type answer struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
	Usage usage  `json:"usage"`
}

// part returns the part of a reply that was recorded.
func (p part) part() llm.ReplyPart {
	out := llm.ReplyPart{Text: p.Text, Action: p.Action, Expect: slices.Clone(p.Expect)}
	if p.Call != nil {
		out.Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: json.RawMessage(p.Call.Arguments)}
	}
	if p.Usage != nil {
		out.Usage = &llm.Usage{Input: p.Usage.Input, Output: p.Usage.Output}
	}
	return out
}

// load reads the existing recordings. Lines that are no recordings were truncated by crashes or changed by hand.
func (m *Model) load() error {
	if m.config.Mode != Replay {
		file, err := m.open()
		if err != nil {
			return callwright.Errorf(callwright.CodeUnavailable, "the cassette can't be written: %w", err)
		}
		_ = file.Close()
	}
	content, err := os.ReadFile(m.config.Path)
	if err != nil {
		return callwright.Errorf(callwright.CodeUnavailable, "the cassette can't be read: %w", err)
	}
	for line := range bytes.Lines(content) {
		var rec recording
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &rec) == nil && rec.whole() {
			m.kept[rec.Key] = rec
		}
	}
	return nil
}

// whole reports whether a recording contains the key of its request and the answer that the request asks for.
func (r recording) whole() bool {
	var asked struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(r.Request, &asked) != nil || r.Key != keyOf(r.Request) {
		return false
	}
	return asked.Kind == kindReply && r.Parts != nil || asked.Kind == kindAnswer && r.Answer != nil
}

// open opens the file for appending. Only its owner may read the conversations.
func (m *Model) open() (*os.File, error) {
	return os.OpenFile(m.config.Path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
}

// store appends a recording: one write of a whole line, after a truncated line that a crash may have left.
func (m *Model) store(rec recording) error {
	line, err := json.Marshal(rec)
	if err != nil {
		return unwritable(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	file, err := m.open()
	if err != nil {
		return unwritable(err)
	}
	torn, err := isTorn(file)
	if torn {
		line = append([]byte("\n"), line...)
	}
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return unwritable(err)
	}
	m.kept[rec.Key] = rec
	return nil
}

// isTorn reports whether a file does not end with the end of a line.
func isTorn(file *os.File) (bool, error) {
	var last [1]byte
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false, err
	}
	if _, err := file.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
