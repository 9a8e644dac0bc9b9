package pathway

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// checkName returns CodeBadRequest for a name that is blank or too long.
func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return callwright.Invalid("name", "is required")
	case callwright.Longer(name, MaxName):
		return callwright.Invalid("name", "must have at most %d characters", MaxName)
	}
	return nil
}

// checkWords returns CodeBadRequest for an invalid name or a description that is too long.
func checkWords(name, description string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if callwright.Longer(description, MaxDescription) {
		return callwright.Invalid("description", "must have at most %d characters", MaxDescription)
	}
	return nil
}

// checkDraft checks the document of a draft, which may be empty, and returns the document's normal form.
func (s *Service) checkDraft(d graph.Document) (graph.Document, error) {
	if d.Empty() {
		return graph.Document{}, nil
	}
	kept, _, err := s.check(d)
	return kept, err
}

// check validates a document before it is stored, and returns its normal form and its graph. In addition to the errors of graph.Check, it
// reports URLs to which no request is permitted, unknown models, and knowledge bases if none are connected.
func (s *Service) check(d graph.Document) (graph.Document, *graph.Graph, error) {
	return s.checkWith(graph.Check, d)
}

func (s *Service) checkWith(
	compile func(graph.Document) (*graph.Graph, error), d graph.Document,
) (graph.Document, *graph.Graph, error) {
	if len(d.Nodes) > graph.MaxNodes || len(d.Edges) > graph.MaxEdges {
		_, err := compile(d) // in this case compile reports only the excess
		return graph.Document{}, nil, err
	}
	d = d.Normalize()
	g, err := compile(d)
	var faults callwright.FieldErrors
	if err != nil && !errors.As(err, &faults) {
		return graph.Document{}, nil, err
	}
	for i, raw := range d.Nodes {
		for _, fault := range s.checkOutside(raw).Within(graph.Entry("nodes", i) + ".data") {
			if !slices.ContainsFunc(faults, func(f *callwright.Error) bool { return f.Field == fault.Field }) {
				faults = append(faults, fault)
			}
		}
	}
	return d, g, faults.OrNil()
}

// checkOutside checks a node's references to URLs, models and knowledge bases. It ignores errors that graph.Compile reports.
func (s *Service) checkOutside(raw json.RawMessage) (faults callwright.FieldErrors) {
	node, err := tree.Parse(string(raw))
	if err != nil {
		return nil
	}
	address := func(field, url string) {
		if err := s.checkURL(url); err != nil {
			faults = append(faults, callwright.Invalid(field, "%s", callwright.MessageOf(err)))
		}
	}
	kind, data := node.Get("type"), node.Get("data")
	tools := data.Get("tools")
	faults = append(faults, s.checkModel(data.Get("modelOptions"))...)
	switch url, base := data.Get("url"), data.Get("kbTool"); graph.NodeType(kind.Text()) {
	case graph.NodeWebhook:
		address("url", url.Text())
	case graph.NodeKnowledge:
		if base.Text() != "" && s.cfg.Interpreter.Knowledge == nil {
			faults = append(faults, callwright.Invalid("kbTool", "must be absent, because no knowledge bases are connected: give the text in kb"))
		}
	default:
	}
	for i, t := range tools.Items() {
		var tool struct { // subset of the format that package tool defines
			URL string `json:"url"`
		}
		if json.Unmarshal([]byte(t.Raw), &tool) == nil {
			address(graph.Entry("tools", i)+".url", tool.URL)
		}
	}
	return faults
}

// checkModel checks that the interpreter knows the model in the options of a node.
func (s *Service) checkModel(options tree.Value) callwright.FieldErrors {
	i := slices.IndexFunc(graph.ModelNames, func(name string) bool { return options.Get(name).Kind > tree.Null })
	if i < 0 {
		return nil
	}
	field := graph.ModelNames[i]
	asked := options.Get(field)
	if e, refused := errors.AsType[*callwright.Error](llm.CheckName(s.cfg.Interpreter.Model, "modelOptions."+field, asked.Text())); refused {
		return callwright.FieldErrors{e}
	}
	return nil
}

// checkURL returns an error if requests to a URL are not permitted, or if this server sends no requests.
func (s *Service) checkURL(url string) error {
	if s.cfg.Interpreter.Requests == nil {
		return callwright.Invalid("", "must be absent, because this server sends no requests to other systems")
	}
	return s.cfg.Interpreter.Requests.CheckURL(url)
}
