package wyoming

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/callwright/callwright"
)

// The maximum sizes of a received line, and of received data or a payload, in bytes.
const (
	maxLine = 64 << 10
	maxPart = 1 << 20
)

// event is an event of the protocol: a line of JSON, data in JSON, and a payload, which this client ignores.
type event struct {
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data,omitempty"`
	DataLen int             `json:"data_length,omitempty"`
	Payload int             `json:"payload_length,omitempty"`

	more json.RawMessage // the data after the line, whose members replace those of Data
}

// text returns the text of a transcript.
func (e event) text() (string, error) {
	var t struct {
		Text *string `json:"text"`
	}
	for _, data := range []json.RawMessage{e.Data, e.more} {
		if len(data) == 0 {
			continue
		}
		if err := json.Unmarshal(data, &t); err != nil {
			return "", err
		}
	}
	if t.Text == nil {
		return "", callwright.Errorf(callwright.CodeUnavailable, "the Wyoming server sent a transcript without a text")
	}
	return *t.Text, nil
}

// wire exchanges events over a connection. After a failed write, flush returns the error.
type wire struct {
	in  *bufio.Reader
	out *bufio.Writer
	err error
}

func newWire(conn io.ReadWriter) *wire {
	return &wire{in: bufio.NewReaderSize(conn, maxLine), out: bufio.NewWriter(conn)}
}

// write writes an event whose data follows its line, as programs of the protocol do.
func (w *wire) write(kind string, data any, payload []byte) {
	if w.err != nil {
		return
	}
	body, err := json.Marshal(data)
	if err != nil {
		w.err = err
		return
	}
	line, err := json.Marshal(event{Type: kind, DataLen: len(body), Payload: len(payload)})
	if err != nil {
		w.err = err
		return
	}
	for _, part := range [][]byte{line, []byte("\n"), body, payload} {
		if _, err := w.out.Write(part); err != nil {
			w.err = err
			return
		}
	}
}

// flush sends what was written.
func (w *wire) flush() error {
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// read returns the next event.
func (w *wire) read() (event, error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return event{}, err
	}
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return event{}, fmt.Errorf("no event: %w", err)
	}
	if e.DataLen < 0 || e.DataLen > maxPart || e.Payload < 0 || e.Payload > maxPart {
		return event{}, fmt.Errorf("an event of %d and %d bytes", e.DataLen, e.Payload)
	}
	e.more = make(json.RawMessage, e.DataLen)
	if _, err := io.ReadFull(w.in, e.more); err != nil {
		return event{}, err
	}
	_, err = w.in.Discard(e.Payload)
	return e, err
}
