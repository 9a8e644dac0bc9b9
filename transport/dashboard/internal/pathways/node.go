package pathways

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// nodeForm is the part of an editor with the conversation settings of the selected node.
type nodeForm struct {
	ID      string
	Section agentform.Section
}

// nodeForm returns the form of the selected node, or nil if the document has no such node. values contains the values as typed; if nil, the
// form shows those of the document.
func newNodeForm(r *page.Request, d graph.Document, name string, values map[string]string, faults page.Faults) *nodeForm {
	id := r.Query("node")
	i := nodeAt(d, id)
	if i < 0 {
		return nil
	}
	if values == nil {
		values = map[string]string{}
		agentform.Node.Fill(values, speakerAt(optionsOf(d.Nodes[i])))
	}
	section := agentform.Node.Section(values, faults)
	section.Title = "Conversation at " + callwright.Clip(name, 100)
	return &nodeForm{id, section}
}

// nodeAt returns the index of the node with an id, or -1.
func nodeAt(d graph.Document, id string) int {
	return slices.IndexFunc(d.Nodes, func(raw json.RawMessage) bool {
		var n struct {
			ID string `json:"id"`
		}
		return id != "" && json.Unmarshal(raw, &n) == nil && n.ID == id
	})
}

// The members of a node that contain its conversation settings.
const (
	memberData    = "data"
	memberOptions = "modelOptions"
)

// optionsOf returns the members of a node's modelOptions. It is empty if they are no object.
func optionsOf(node json.RawMessage) map[string]json.RawMessage {
	var n struct {
		Data struct {
			Options map[string]json.RawMessage `json:"modelOptions"`
		} `json:"data"`
	}
	if json.Unmarshal(node, &n) != nil || n.Data.Options == nil {
		return map[string]json.RawMessage{}
	}
	return n.Data.Options
}

// speakerAt returns an agent with the conversation settings of a node. It omits values of a wrong type, which the compiler reports.
func speakerAt(options map[string]json.RawMessage) (a agents.Agent) {
	number := func(name string) (n float64, ok bool) { return n, json.Unmarshal(options[name], &n) == nil }
	if n, ok := number("interruptibility"); ok {
		a.Interruptibility = new(int(n))
	}
	var blocks bool
	if json.Unmarshal(options["block_interruptions"], &blocks) == nil && blocks {
		a.Interruptibility = new(0)
	}
	if n, ok := number("interruptionThreshold"); ok {
		a.Interruption = new(milliseconds(n))
	}
	n, _ := number("min_endpointing_delay")
	a.LeastWait = milliseconds(n)
	n, _ = number("max_endpointing_delay")
	a.LongestWait = milliseconds(n)
	return a
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// withNode returns a document in which the selected node has the conversation settings of the form, and the values as typed. They are nil if
// the form has no node's settings. An invalid value causes CodeBadRequest with the name of the field.
func withNode(r *page.Request, d graph.Document) (changed graph.Document, values map[string]string, err error) {
	i := nodeAt(d, r.Query("node"))
	if i < 0 || r.Field("with_node") == "" {
		return d, nil, nil
	}
	values = map[string]string{}
	agentform.Node.Read(r, values)
	options := optionsOf(d.Nodes[i])
	before := maps.Clone(options)
	patch, err := agentform.Node.Patch(values, speakerAt(options))
	if err != nil {
		return d, values, err
	}
	if patch.Interruptibility.Set {
		delete(options, "block_interruptions")
		setOption(options, "interruptibility", patch.Interruptibility.Value)
	}
	for name, wait := range map[string]callwright.Optional[time.Duration]{
		"interruptionThreshold": patch.Interruption, "min_endpointing_delay": patch.LeastWait, "max_endpointing_delay": patch.LongestWait,
	} {
		if !wait.Set {
			continue
		}
		var ms *float64
		if d := wait.OrZero(); d != 0 || name == "interruptionThreshold" && wait.Value != nil {
			ms = new(float64(d) / float64(time.Millisecond))
		}
		setOption(options, name, ms)
	}
	if maps.EqualFunc(before, options, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return d, values, nil
	}
	d.Nodes = slices.Clone(d.Nodes)
	d.Nodes[i] = withOptions(d.Nodes[i], options)
	return d, values, nil
}

// setOption sets a member, or deletes it if the value is nil.
func setOption[T any](options map[string]json.RawMessage, name string, value *T) {
	if delete(options, name); value != nil {
		options[name], _ = json.Marshal(value) //nolint:errchkjson // a finite number
	}
}

// withOptions returns a node with other modelOptions. The rest of its text stays unchanged.
func withOptions(node json.RawMessage, options map[string]json.RawMessage) json.RawMessage {
	var n struct {
		Data json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(node, &n)     // optionsOf has parsed the node
	text, _ := json.Marshal(options) //nolint:errchkjson // members of valid JSON
	if len(n.Data) == 0 || n.Data[0] != '{' {
		n.Data = json.RawMessage("{}")
	}
	return withMember(node, memberData, withMember(n.Data, memberOptions, text))
}

// withMember returns a JSON object in which a member has another value. It adds the member at the end if the object lacks it.
func withMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the opening brace
	empty := true
	for d.More() {
		empty = false
		key, _ := d.Token()
		var old json.RawMessage
		_ = d.Decode(&old)
		if key == name {
			end := int(d.InputOffset())
			return slices.Concat(object[:end-len(old)], value, object[end:])
		}
	}
	end := bytes.LastIndexByte(object, '}')
	member := `,"` + name + `":`
	if empty {
		member = member[1:]
	}
	return slices.Concat(object[:end], []byte(member), value, object[end:])
}
