package pathway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/callwright/callwright/agents/dialogue"
)

// State is the state of a conversation. It is plain data: a copy is a separate conversation. It can be stored as JSON, and decodes to an
// equal State; the encoding is private to this package. The zero State is a conversation that has not begun.
type State struct {
	Node      string         // id of the node that waits for the caller; before the start, the first node, or empty for the graph's start
	Return    string         // id of the node to which a global node returns; may be empty
	Variables map[string]any // values given, extracted or set from responses; integers are int64, other numbers float64
	Talk      dialogue.Talk  // messages
	Visited   []string       // ids of the visited nodes, in order
	Turn      int            // number of turns so far
	Loops     int            // number of consecutive turns that MaxVisits has ended
	Recounts  int            `json:",omitempty"` // times that the agent has asked for a number again since it entered the node
	Over      bool           // whether the conversation has ended or was transferred
	SaysText  bool           `json:",omitempty"` // whether the words of the last turn were the node's text, or a part of it

	// Interruption describes how the caller has interrupted the node's text. ReturnInterruption describes the same for the node Return.
	Interruption       Interruption `json:",omitzero"`
	ReturnInterruption Interruption `json:",omitzero"`

	// ActionPending reports whether the node's action may still be pending, because the caller may have interrupted the words before the
	// action: see Interpreter.Step. ReturnPending reports the same for the node Return.
	ActionPending bool `json:"Due"`
	ReturnPending bool `json:"ReturnDue"`
}

// Interruption describes how a caller has interrupted a node's text.
type Interruption struct {
	Cut  bool   // whether the text was interrupted by words or digits, or left for a global node, since the conversation entered the node
	Rest string // words with which the interrupted text continues: see dialogue.Talk.Hear; empty if the caller has heard all of it

	// Unasked reports whether the caller has not heard the beginning of the question in Rest: see the function unheard.
	Unasked bool `json:",omitempty"`
}

// unasked reports whether the node's question is part of the words that the agent has still to say.
func (i Interruption) unasked() bool { return i.Unasked && i.Rest != "" }

// Begin returns the state of a conversation that has not begun. startNode is the id of the first node; if it is empty, the conversation
// begins at the graph's start node. The variables are copied. They may contain any values that JSON can encode.
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

// UnmarshalJSON implements json.Unmarshaler. Numbers of variables become int64 or float64.
func (s *State) UnmarshalJSON(raw []byte) error {
	type plainState State // without UnmarshalJSON, which would recurse
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

// decode decodes JSON, with numbers as json.Number, so that they keep all digits.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// plain returns a value in the form that it has after decoding from a stored State, so that storing a State does not change it: integers
// are int64 if they fit, and other numbers float64. It shares no memory with v.
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
