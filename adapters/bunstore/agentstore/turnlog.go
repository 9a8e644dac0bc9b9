package agentstore

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// logJSON is the JSON form of a pathway.Log. See document.go for the conversion of its members.
type logJSON struct {
	Node     string         `json:"node,omitempty"`
	Heard    string         `json:"heard,omitempty"`
	Said     string         `json:"said,omitempty"`
	Entries  []logEntryJSON `json:"entries,omitzero"`
	Usage    usageJSON      `json:"usage,omitzero"`
	Duration time.Duration  `json:"took_ns,omitempty"`

	ModelCalls int           `json:"model_calls,omitempty"`
	Withdrawn  withdrawnJSON `json:"withdrawn,omitzero"`
	Models     []useJSON     `json:"models,omitempty"`
}

// withdrawnJSON is the JSON form of a pathway.Withdrawn.
type withdrawnJSON struct {
	Answers    int       `json:"answers"`
	Usage      usageJSON `json:"usage,omitzero"`
	ModelCalls int       `json:"model_calls,omitempty"`
	Models     []useJSON `json:"models,omitempty"`
}

type usageJSON struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached,omitempty"`
}

// useJSON is the JSON form of an llm.Use.
type useJSON struct {
	Model     string    `json:"model"`
	Replaced  string    `json:"replaced,omitempty"`
	Cause     llm.Class `json:"cause,omitempty"`
	Requests  int       `json:"requests"`
	Failed    int       `json:"failed,omitempty"`
	Uncounted int       `json:"uncounted,omitempty"`
	Usage     usageJSON `json:"usage,omitzero"`
}

func storedUse(u llm.Use) useJSON {
	return useJSON{u.Model, u.Replaced, u.Cause, u.Requests, u.Failed, u.Uncounted, usageJSON(u.Usage)}
}

func (j useJSON) use() llm.Use {
	return llm.Use{
		Model: j.Model, Replaced: j.Replaced, Cause: j.Cause, Requests: j.Requests, Failed: j.Failed, Uncounted: j.Uncounted, Usage: llm.Usage(j.Usage),
	}
}

type logEntryJSON struct {
	Kind      pathway.LogKind `json:"kind"`
	Node      string          `json:"node,omitempty"`
	Name      string          `json:"name,omitempty"`
	Chosen    string          `json:"chosen,omitempty"`
	Edge      string          `json:"edge,omitempty"`
	Tag       string          `json:"tag,omitempty"`
	Text      string          `json:"text,omitempty"`
	Variables map[string]any  `json:"variables,omitzero"`
	Request   *requestLogJSON `json:"request,omitempty"`
	At        time.Time       `json:"at"`

	Settings map[string]float64 `json:"settings,omitempty"`
}

type requestLogJSON struct {
	Name      string          `json:"name,omitempty"`
	Method    string          `json:"method,omitempty"`
	URL       string          `json:"url,omitempty"`
	Status    int             `json:"status,omitempty"`
	Body      json.RawMessage `json:"body,omitzero"`
	Duration  time.Duration   `json:"took_ns,omitempty"`
	Variables map[string]any  `json:"variables,omitzero"`
	Error     string          `json:"error,omitempty"`
}

// marshalLog encodes a log without its turn number, which is stored in another column.
func marshalLog(l pathway.Log) (string, error) {
	entry := func(e pathway.LogEntry) logEntryJSON {
		return logEntryJSON{
			e.Kind, e.Node, e.Name, e.Chosen, e.Edge, e.Tag, e.Text, e.Variables, (*requestLogJSON)(e.Request), sqldb.Stored(e.At), e.Settings,
		}
	}
	text, err := json.Marshal(logJSON{
		l.Node, l.Heard, l.Said, sqldb.Converted(l.Entries, entry), usageJSON(l.Usage), l.Duration, l.ModelCalls,
		withdrawnJSON{l.Withdrawn.Answers, usageJSON(l.Withdrawn.Usage), l.Withdrawn.ModelCalls, sqldb.Converted(l.Withdrawn.Models, storedUse)},
		sqldb.Converted(l.Models, storedUse),
	})
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return string(text), nil
}

// unmarshalLog decodes a text of marshalLog and sets the turn of the log.
func unmarshalLog(turn int, text string) (pathway.Log, error) {
	var j logJSON
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return pathway.Log{}, callwright.ErrInternal.Because(err)
	}
	entry := func(e logEntryJSON) pathway.LogEntry {
		return pathway.LogEntry{
			Kind: e.Kind, Node: e.Node, Name: e.Name, Chosen: e.Chosen, Edge: e.Edge, Tag: e.Tag, Text: e.Text,
			Variables: e.Variables, Request: (*request.Log)(e.Request), At: e.At, Settings: e.Settings,
		}
	}
	return pathway.Log{
		Turn: turn, Node: j.Node, Heard: j.Heard, Said: j.Said, Entries: sqldb.Converted(j.Entries, entry),
		Usage: llm.Usage(j.Usage), Duration: j.Duration, ModelCalls: j.ModelCalls, Models: sqldb.Converted(j.Models, useJSON.use),
		Withdrawn: pathway.Withdrawn{
			Answers: j.Withdrawn.Answers, Usage: llm.Usage(j.Withdrawn.Usage), ModelCalls: j.Withdrawn.ModelCalls,
			Models: sqldb.Converted(j.Withdrawn.Models, useJSON.use),
		},
	}, nil
}
