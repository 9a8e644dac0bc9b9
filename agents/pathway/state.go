package pathway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/callwright/callwright/agents/dialogue"
)

// State is the state of a conversation. It is plain data: a copy is a separate conversation. Encoded as JSON it can be stored, and
// decodes to an equal State; the encoding is private to this package. The zero State is a conversation that has not begun.
type State struct {
	Node      string         // id of the node that waits for the caller; before the start: of the first node, empty for the graph's
	Return    string         // id of the node to return to from a global node; empty: none
	Variables map[string]any // given and extracted values; integers are int64, other numbers float64
	Talk      dialogue.Talk  // the messages
	Visited   []string       // ids of the visited nodes, in order
	Turn      int            // number of turns so far
	Loops     int            // consecutive turns that MaxVisits has ended
	Over      bool           // the conversation has ended or was transferred

	// ActionPending reports that the node's action may still be pending, because the caller may have interrupted the words before
	// it: see Interpreter.Step. ReturnPending reports the same of the node Return.
	ActionPending bool `json:"Due"`
	ReturnPending bool `json:"ReturnDue"`
}

// Begin returns the state of a conversation that has not begun. startNode is the id of the first node; empty is the graph's start.
// The variables are copied; they may contain all values that JSON can encode.
func Begin(variables map[string]any, startNode string) State {
	s := State{Node: startNode}
	if len(variables) > 0 {
		s.Variables = make(map[string]any, len(variables))
		for name, v := range variables {
			s.Variables[strings.ToValidUTF8(name, "\uFFFD")] = plain(v)
		}
	}
	return s
}

// UnmarshalJSON decodes a State.
func (s *State) UnmarshalJSON(raw []byte) error {
	type plainState State // without its methods
	var out plainState
	if err := decode(raw, &out); err != nil {
		return err
	}
	for name, v := range out.Variables {
		out.Variables[name] = plain(v)
	}
	*s = State(out)
	return nil
}

// decode decodes JSON and keeps all digits of its numbers.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// plain returns a value in its form in a stored State, so that storing makes no difference: integers are int64 if they fit, other
// numbers float64. It shares no memory with v.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, int64:
		return v
	case int:
		return int64(v)
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case float64:
		return plainFloat(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return plainFloat(f)
		}
		return v.String()
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[strings.ToValidUTF8(name, "\uFFFD")] = plain(member)
		}
		return object
	}
	var out any
	raw, err := json.Marshal(v)
	if err == nil {
		err = decode(raw, &out)
	}
	if err != nil {
		return fmt.Sprint(v) // JSON cannot encode it
	}
	return plain(out)
}

func plainFloat(v float64) any {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case v == math.Trunc(v) && math.Abs(v) < 1<<63:
		return int64(v)
	default:
		return v
	}
}
