package agenttesttest

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Shop returns the pathway of RunRunner. Its node "welcome" collects the variables day and bicycles. From there, the words "slots", "talk",
// "tones", "person", "round" and "bye" lead to the nodes with these ids. The word "cost" leads from any node to the global node "cost".
// Literal understands these words.
func Shop() graph.Document {
	d := graph.Document{Nodes: []json.RawMessage{
		node("welcome", graph.NodeDefault, fields{
			"isStart": true, "text": "Hello {{name}}.",
			"extractVars": [][]string{{"day", "string", "the day"}, {"bicycles", "integer", "how many"}},
		}),
		node("slots", graph.NodeWebhook, fields{
			"url": "https://ada:passphrase@shop.example.com/slots?api_key=0123456789&day={{day}}", "method": "POST",
			"headers": fields{"Authorization": "Bearer 0123456789abcdef", "X-Shop": "north", "X-Shop-Key": "0123456789"},
			"body":    `{"day": "{{day}}"}`, "timeoutValue": 15,
			"responseData":     []fields{{"name": "free", "data": "$.free"}},
			"responsePathways": []any{[]any{"free", ">", "0", fields{"id": "offer", "name": "Offer"}}},
		}),
		node("offer", graph.NodeDefault, fields{"text": "There are {{free}}."}),
		node("full", graph.NodeDefault, fields{"text": "All is taken."}),
		node("talk", graph.NodeDefault, fields{"prompt": "Talk.", "tools": []fields{{
			"name": "look", "description": "Looks something up", "url": "https://shop.example.com/look/{{input.at}}",
			"input_schema": fields{"type": "object", "properties": fields{"at": fields{"type": "string"}}},
			"response":     fields{"seen": "$.seen"},
		}}}),
		node("tones", graph.NodePress, fields{"text": "Tones.", "digits": "12#"}),
		node("person", graph.NodeTransfer, fields{"text": "One moment.", "transferNumber": "+15550100"}),
		node("round", graph.NodeDefault, fields{"text": "And", "modelOptions": fields{"skipUserResponse": true}}),
		node("again", graph.NodeDefault, fields{"text": "so on.", "modelOptions": fields{"skipUserResponse": true}}),
		node("bye", graph.NodeEnd, fields{"text": "Goodbye."}),
		node("cost", graph.NodeDefault, fields{
			"isGlobal": true, "globalLabel": "cost", "enableGlobalAutoReturn": true, "text": "It is thirty.",
		}),
	}}
	for _, to := range []string{"slots", "talk", "tones", "person", "round", "bye"} {
		d.Edges = append(d.Edges, edge("welcome", to, to))
	}
	d.Edges = append(d.Edges, edge("slots", "full", ""), edge("tones", "talk", ""), edge("round", "again", ""), edge("again", "round", ""))
	return d
}

// fields are the members of a JSON object.
type fields = map[string]any

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("agenttesttest: " + err.Error())
	}
	return raw
}

// node returns the JSON of a node, whose name is derived from its id.
func node(id string, kind graph.NodeType, data fields) json.RawMessage {
	data["name"] = "The " + id
	return encode(fields{"id": id, "type": kind, "data": data})
}

// edge returns the JSON of an edge. An edge without a label is always taken.
func edge(from, to, label string) json.RawMessage {
	return encode(fields{
		"id": from + ">" + to, "source": from, "target": to, "data": fields{"label": label, "alwaysPick": label == ""},
	})
}

// Literal returns a model that follows simple rules. It chooses the first option whose label the caller's last words contain, or else the
// option with Otherwise set. It finds the value of a variable where these words contain "name=value". It says the last line of its
// instructions. If the last message is the caller's and contains "look:" and words joined by "+", it first calls the tool "look" for each
// of these words in one reply.
func Literal() *agentstest.Model {
	return &agentstest.Model{Says: says, Answers: answers, Usage: llm.Usage{Input: 10, Output: 1}}
}

func says(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
	last := llm.Message{}
	if len(r.Messages) > 0 {
		last = r.Messages[len(r.Messages)-1]
	}
	if _, wanted, ok := strings.Cut(last.Text, "look:"); ok && last.Role == llm.RoleCaller {
		var calls []llm.ReplyPart
		for i, at := range strings.Split(wanted, "+") {
			calls = append(calls, llm.ReplyPart{Call: &llm.ToolCall{
				ID: strconv.Itoa(i), Name: "look", Arguments: encode(fields{"at": at}),
			}})
		}
		return calls, nil
	}
	lines := strings.Split(r.Instructions, "\n")
	return agentstest.Texts(lines[len(lines)-1]), nil
}

func answers(_ context.Context, q llm.Question) (string, error) {
	last := ""
	for _, m := range q.Messages {
		if m.Role == llm.RoleCaller {
			last = m.Text
		}
	}
	if q.Task == llm.TaskExtract {
		values := fields{}
		for _, f := range q.Fields {
			values[f.Name] = nil
			found := regexp.MustCompile(regexp.QuoteMeta(f.Name) + `=(\w+)`).FindStringSubmatch(last)
			if found == nil {
				continue
			}
			values[f.Name] = found[1]
			if n, err := strconv.Atoi(found[1]); err == nil && f.Type == llm.FieldInteger {
				values[f.Name] = n
			}
		}
		return string(encode(values)), nil
	}
	for _, o := range q.Options {
		if o.Otherwise || strings.Contains(last, o.Label) {
			return string(encode(fields{"reason": "so it was said", "option": o.ID})), nil
		}
	}
	return "{}", nil
}
