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

// recording is a line of the file. It contains either Parts or an Answer.
type recording struct {
	Key     string          `json:"key"`     // SHA-256 of the request, in hexadecimal
	Took    float64         `json:"took_ms"` // milliseconds until the end of the answer
	Parts   []part          `json:"parts,omitzero"`
	Answer  *answer         `json:"answer,omitempty"`
	Request json.RawMessage `json:"request"`
}

// part is the JSON form of an llm.ReplyPart.
type part struct {
	Text   string     `json:"text,omitempty"`
	Action llm.Action `json:"action,omitempty"`
	Call   *call      `json:"call,omitempty"`
	Expect []string   `json:"expect,omitempty"`
	Usage  *usage     `json:"usage,omitempty"`
}

// usage is the JSON form of an llm.Usage.
type usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached,omitempty"`
}

// call is the JSON form of an llm.ToolCall. Arguments are stored as text, because they may be invalid JSON.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Extra     string `json:"extra,omitempty"`
}

// answer is the JSON form of an llm.Answer. The model's output is stored as text, because it may be invalid JSON.
type answer struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
	Usage usage  `json:"usage"`
}

// part converts a recorded part to an llm.ReplyPart.
func (p part) part() llm.ReplyPart {
	out := llm.ReplyPart{Text: p.Text, Action: p.Action, Expect: slices.Clone(p.Expect)}
	if p.Call != nil {
		out.Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: json.RawMessage(p.Call.Arguments)}
		if p.Call.Extra != "" {
			out.Call.Extra = json.RawMessage(p.Call.Extra)
		}
	}
	if p.Usage != nil {
		out.Usage = new(llm.Usage(*p.Usage))
	}
	return out
}

// load reads the existing recordings. It ignores invalid lines, which crashes have truncated or people have changed. Unless the mode is
// Replay, it also checks that the file can be written.
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

// whole reports whether a recording is complete: its key matches its request, and it contains parts or an answer, depending on the kind of
// the request.
func (r recording) whole() bool {
	var asked struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(r.Request, &asked) != nil || r.Key != keyOf(r.Request) {
		return false
	}
	return asked.Kind == kindReply && r.Parts != nil || asked.Kind == kindAnswer && r.Answer != nil
}

// open opens the file for appending, and creates it if it is absent. Only its owner may read it, because it contains conversations.
func (m *Model) open() (*os.File, error) {
	return os.OpenFile(m.config.Path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
}

// store appends a recording as one line, in one write. If a crash has left a truncated line, store begins a new line first.
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

// isTorn reports whether the file is not empty and does not end with a line break.
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
