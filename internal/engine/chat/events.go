package chat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// Event is an event of a stream of server-sent events.
type Event struct {
	Name string // empty unless the server names it
	Data []byte // valid until the next event
}

// Events reads server-sent events (WHATWG HTML, section 9.2): lines end with CR, LF or both, a byte order mark before the first line is
// skipped, and comments and unknown fields are ignored. Beyond the standard, an event also ends where the next one begins although the empty
// line between them is missing, and at the end of the stream, if its data is complete JSON or "[DONE]": some servers write such streams. An
// error of the reader, except io.EOF, is the last element.
func Events(body io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, MaxAnswer)
		lines.Split(splitLines())
		var e Event
		for first := true; lines.Scan(); first = false {
			line := lines.Bytes()
			if first {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			ends := len(line) == 0 || (string(field) == "data" || string(field) == "event") && whole(e.Data)
			if ends {
				if len(e.Data) > 0 && !yield(e, nil) {
					return
				}
				e = Event{Data: e.Data[:0]}
			}
			switch string(field) {
			case "data":
				if len(e.Data) > 0 {
					e.Data = append(e.Data, '\n')
				}
				e.Data = append(e.Data, value...)
			case "event":
				e.Name = string(value)
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, err)
		} else if whole(e.Data) {
			yield(e, nil)
		}
	}
}

// Pieces reads the events of a response. A response that is no event stream is one event with its JSON, or one for each element of a JSON
// array: some servers and proxies do not stream. Pieces reads at most MaxAnswer bytes.
func Pieces(body io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		text := bufio.NewReader(io.LimitReader(body, MaxAnswer))
		first, _ := text.Peek(1)
		if string(first) != "{" && string(first) != "[" {
			Events(text)(yield)
			return
		}
		d := json.NewDecoder(text)
		if string(first) == "[" {
			_, _ = d.Token() // the bracket
		}
		for d.More() {
			var one json.RawMessage
			if err := d.Decode(&one); err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(Event{Data: one}, nil) {
				return
			}
		}
	}
}

// ErrCutOff reports a stream that ended before its answer was complete.
var ErrCutOff = errors.New("the service cut off the answer before its end")

// Done is the data of the event that ends a stream.
const Done = "[DONE]"

// whole reports whether the data of an event is complete.
func whole(data []byte) bool { return string(data) == Done || json.Valid(data) }

// splitLines returns a bufio.SplitFunc for lines that end with CR, LF or CR LF. A line is complete with its CR: an LF that follows is skipped
// before the next line, so that the last line of an event never waits for the next event.
func splitLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		rest := data
		if afterCR {
			rest = bytes.TrimPrefix(rest, []byte("\n"))
		}
		skipped := len(data) - len(rest)
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			switch {
			case !atEOF:
				return 0, nil, nil
			case len(rest) == 0:
				return len(data), nil, nil
			default:
				return len(data), rest, nil
			}
		}
		afterCR = rest[end] == '\r'
		return skipped + end + 1, rest[:end], nil
	}
}
