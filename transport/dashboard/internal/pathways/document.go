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

// starter is the document with which the form of a new pathway begins. Its condition quotes words of the caller, by which a server
// without a language model decides.
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

// document is a graph.Document as people edit it.
type document struct {
	Nodes []json.RawMessage `json:"nodes"`
	Edges []json.RawMessage `json:"edges"`
}

// nodeTypes are the types that a node of a document may have.
var nodeTypes = []graph.NodeType{
	graph.NodeDefault, graph.NodeWait, graph.NodeKnowledge, graph.NodeWebhook, graph.NodePress, graph.NodeTransfer, graph.NodeEnd,
}

// editor is the document of a form, as it is edited.
type editor struct {
	Text   string
	Faults page.Faults // of the whole form
	Places []fault
}

// Types returns the types that a node may have.
func (editor) Types() []graph.NodeType { return nodeTypes }

// textOf returns a document as indented JSON.
func textOf(d graph.Document) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(document{slices.Concat([]json.RawMessage{}, d.Nodes), slices.Concat([]json.RawMessage{}, d.Edges)})
	return b.String(), err
}

// parse reads an edited document.
func parse(text string) (graph.Document, error) {
	var d document
	err := json.Unmarshal([]byte(text), &d)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return graph.Document{}, callwright.Invalid("document", "line %d: is not JSON: %s", lineAt(text, syntax.Offset), syntax.Error())
	}
	if err != nil {
		return graph.Document{}, callwright.Invalid("document", "must be an object with nodes and edges, which are lists")
	}
	return graph.Document(d), nil
}

// fault is an error of a document at its place.
type fault struct {
	Path, Message string
	Line          int // 0: unknown
}

// faultsOf returns the faults of a form with a document: in its fields, see page.FaultsOf, and in places of the document.
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

// linesOf returns the lines of the paths of errors. An absent path has the line of its nearest existing parent.
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

// around returns the path of the parent of a member or an entry.
func around(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

func lineAt(text string, offset int64) int {
	return 1 + strings.Count(text[:min(int(offset), len(text))], "\n")
}

// finder finds where the values of some paths begin.
type finder struct {
	decoder *json.Decoder
	offsets map[string]int64 // by the paths to find; 0: not found
}

// walk reads a value. It enters only values that contain a path to find.
func (f finder) walk(path string) {
	if _, wanted := f.offsets[path]; !wanted && path != "" {
		var skipped json.RawMessage
		_ = f.decoder.Decode(&skipped) // the text was decoded before
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
	_, _ = f.decoder.Token() // the end of the object or list
}
