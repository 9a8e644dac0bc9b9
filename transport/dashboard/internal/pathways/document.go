package pathways

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// starter is the initial document of the form that creates a pathway. Its condition quotes the caller's words, because a server without a
// language model evaluates conditions by quoted words.
const starter = `{
  "nodes": [
    {"id": "ask", "type": "Default", "data": {"name": "Ask", "isStart": true, "text": "Hello, which day suits you?"}},
    {"id": "bye", "type": "End Call", "data": {"name": "Bye", "text": "Thank you. Goodbye."}}
  ],
  "edges": [
    {"id": "e1", "source": "ask", "target": "bye", "data": {"label": "the caller has named a day: “Monday”, “Tuesday”, “Wednesday”, “Thursday”, “Friday”, “Saturday” or “Sunday”"}}
  ]
}
`

// document is the JSON form of a graph.Document in the editor.
type document struct {
	Nodes []json.RawMessage `json:"nodes"`
	Edges []json.RawMessage `json:"edges"`
}

// nodeTypes lists the types that the editor offers for nodes.
var nodeTypes = []graph.NodeType{
	graph.NodeDefault, graph.NodeWait, graph.NodeKnowledge, graph.NodeWebhook, graph.NodePress, graph.NodeTransfer, graph.NodeEnd,
}

// editor holds the edited document of a form, and its errors.
type editor struct {
	Text   string
	Faults page.Faults // of the whole form, not only the document
	Places []fault
}

// Types returns the types that a node may have.
func (editor) Types() []graph.NodeType { return nodeTypes }

// textOf returns the indented JSON of a document.
func textOf(d graph.Document) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(document{slices.Concat([]json.RawMessage{}, d.Nodes), slices.Concat([]json.RawMessage{}, d.Edges)})
	return b.String(), err
}

// parse decodes an edited document. Its error names the line of a syntax error. It does not validate nodes and edges.
func parse(text string) (graph.Document, error) {
	var d document
	err := json.Unmarshal([]byte(text), &d)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return graph.Document{}, callwright.Invalid("document", "must be valid JSON, but has an error in line %d: %s", lineAt(text, syntax.Offset), syntax.Error())
	}
	if err != nil {
		return graph.Document{}, callwright.Invalid("document", "must be a JSON object with the lists nodes and edges")
	}
	return graph.Document(d), nil
}

// fault is an error of a document, with the path of the faulty value.
type fault struct {
	Path, Message string
	Line          int // 0 means unknown
}

// faultsOf converts an error to the faults of a form that contains a document. If err lists errors in the document, faultsOf returns them
// with their lines, and Faults refers to this list. Otherwise it returns what page.FaultsOf returns. The bool is false if the user can
// neither correct the form nor send it again later.
func faultsOf(err error, text string, names map[string]string, fields ...string) (page.Faults, []fault, bool) {
	all, ok := errors.AsType[callwright.FieldErrors](err)
	if !ok {
		faults, mendable := page.FaultsOf(err, names, fields...)
		return faults, nil, mendable
	}
	lines := linesOf(text, all)
	places := make([]fault, len(all))
	for i, e := range all {
		places[i] = fault{Path: e.Field, Message: e.Message, Line: lines[e.Field]}
	}
	return page.Faults{"document": "The document has errors: see the list."}, places, true
}

// linesOf returns the line of each error's path in a document. For an absent value, it returns the line of the nearest existing parent.
func linesOf(text string, all callwright.FieldErrors) map[string]int {
	f := finder{json.NewDecoder(strings.NewReader(text)), map[string]int64{}}
	for _, e := range all {
		for at := e.Field; at != ""; at = around(at) {
			f.offsets[at] = 0
		}
	}
	f.walk("")
	lines := map[string]int{}
	for _, e := range all {
		for at := e.Field; at != "" && lines[e.Field] == 0; at = around(at) {
			if offset := f.offsets[at]; offset > 0 {
				lines[e.Field] = lineAt(text, offset)
			}
		}
	}
	return lines
}

// around returns the path of the object or list that contains a value.
func around(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

func lineAt(text string, offset int64) int {
	return 1 + strings.Count(text[:min(int(offset), len(text))], "\n")
}

// finder finds values by their paths in a JSON text. For each value it finds the offset at which the value's first token ends, which is on
// the line on which the value begins.
type finder struct {
	decoder *json.Decoder
	offsets map[string]int64 // the keys are the paths to find; 0 means not found
}

// walk reads a value. If the path is wanted, or is the root, walk records the value's offset and descends into the value. Otherwise it
// skips the value.
func (f finder) walk(path string) {
	if _, wanted := f.offsets[path]; !wanted && path != "" {
		var skipped json.RawMessage
		_ = f.decoder.Decode(&skipped) // the text is valid: it was decoded before
		return
	}
	token, err := f.decoder.Token()
	if err != nil {
		return
	}
	f.offsets[path] = f.decoder.InputOffset()
	switch token {
	case json.Delim('{'):
		for f.decoder.More() {
			name, _ := f.decoder.Token()
			key, _ := name.(string)
			f.walk(strings.TrimPrefix(path+"."+key, "."))
		}
	case json.Delim('['):
		for i := 0; f.decoder.More(); i++ {
			f.walk(path + "[" + strconv.Itoa(i) + "]")
		}
	default:
		return
	}
	_, _ = f.decoder.Token() // the closing bracket
}
