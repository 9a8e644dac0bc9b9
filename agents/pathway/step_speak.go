package pathway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// fromKnowledge is what a model is told at a node that answers from knowledge.
const fromKnowledge = "Answer only from the knowledge that you are given. Where it has no answer, say that you don't know."

// unknown is said where a stand-in for a model can't answer from the knowledge that there is.
const unknown = "I am sorry, I don't know that."

// render fills the variables in. Their values are data, never expanded again; those that are unknown become nothing, and
// are named in the log.
func (w *walk) render(t *template.Template) string {
	if t == nil {
		return ""
	}
	w.miss(t)
	return t.Render(w.state.Variables)
}

// miss notes the variables of a template that are unknown, the first of a turn.
func (w *walk) miss(t *template.Template) {
	for _, name := range t.Missing(w.state.Variables) {
		if len(w.missing) < template.MaxNames && !slices.Contains(w.missing, name) {
			w.missing = append(w.missing, name)
		}
	}
}

// say says a text of the agent's, which may hold variables.
func (w *walk) say(text string) {
	if text != "" {
		w.answer.Text(w.render(template.Parse(text)))
	}
}

// speak says the words of the node, or has the model find them; false: it has none. arriving: the conversation has just
// come there.
func (w *walk) speak(ctx context.Context, arriving bool) bool {
	switch {
	case w.at.Text != nil:
		w.answer.Text(w.render(w.at.Text))
	case w.at.Prompt != nil || w.at.Type == NodeKnowledge:
		w.reply(ctx, arriving)
	default:
		return false
	}
	return true
}

// reply has the model speak. What it wants done beside is for the graph to decide: a model can't end or transfer a call.
func (w *walk) reply(ctx context.Context, arriving bool) {
	r := w.request()
	r.Arriving = arriving
	if w.at.Type == NodeKnowledge {
		r.Knowledge = w.passages(ctx)
	}
	if w.broken(ctx) {
		return
	}
	said := w.answer.Said()
	speaker := dialogue.Speaker{
		Model: w.runtime.Model, Tools: w.at.Tools, Requests: w.runtime.Requests, Logger: w.runtime.Logger,
	}
	reply, err := speaker.Reply(ctx, w.answer, r, w.state.Variables)
	w.log.Usage = w.log.Usage.Add(reply.Usage)
	for i := range reply.Requests {
		w.acted = true
		w.note(LogEntry{Kind: LogRequest, Request: &reply.Requests[i]})
	}
	w.set(reply.Variables)
	w.settleCalls()
	switch {
	case err == nil:
	case w.at.Type == NodeKnowledge && llm.ClassOf(err) == llm.ClassUnsupported && w.answer.Said() == said:
		w.note(LogEntry{Kind: LogError, Text: err.Error()})
		w.answer.Text(unknown)
	default:
		w.fail(ctx, err)
	}
}

// settleCalls writes the arguments of the turn's tool calls as a State's JSON gives them back.
func (w *walk) settleCalls() {
	for _, m := range w.state.Talk.Messages[len(w.heard.Messages):] {
		for i, c := range m.Calls {
			if kept, err := json.Marshal(c.Arguments); err == nil {
				m.Calls[i].Arguments = kept
			}
		}
	}
}

// request asks the model for words at the node. What the caller and other systems have said is in the messages, and in
// instructions only where a template asks for a variable.
func (w *walk) request() llm.ReplyRequest {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	add(w.render(w.graph.Prompt))
	add(w.render(template.Parse(w.agent.Persona)))
	add(w.render(w.at.Prompt))
	if w.at.Type == NodeKnowledge {
		add(fromKnowledge)
	}
	model, temperature := w.model()
	return llm.ReplyRequest{
		Org: w.agent.Org, Task: llm.TaskReply, Instructions: strings.Join(parts, "\n\n"), Language: w.agent.Language,
		Model: model, Temperature: temperature, Messages: slices.Clone(w.state.Talk.Messages),
		Facts: request.Known(slices.Concat(w.agent.Facts, w.graph.Facts), w.state.Variables),
	}
}

// question is what every question at the node has.
func (w *walk) question() llm.Question {
	model, temperature := w.model()
	return llm.Question{
		Org: w.agent.Org, Language: w.agent.Language, Model: model, Temperature: temperature,
		Messages: slices.Clone(w.state.Talk.Messages), Variables: w.state.Variables,
	}
}

// model is which one answers at the node, and how freely.
func (w *walk) model() (name string, temperature *float64) {
	name, temperature = w.agent.Model, w.agent.Temperature
	if w.at.Model != "" {
		name = w.at.Model
	}
	if w.at.Temperature != nil {
		temperature = w.at.Temperature
	}
	return name, temperature
}

// expect tells the recognizer what the caller may say next, where the model knows: of what leads on from the node, and
// of what is to be found out there.
func (w *walk) expect() {
	h, ok := w.runtime.Model.(llm.Hinter)
	if !ok {
		return
	}
	defer func(missing []string) { w.missing = missing }(w.missing) // what is not said yet is not missed
	ways := w.ways(true)
	options := make([]llm.Option, 0, len(ways)+len(w.at.Extract))
	for _, v := range ways {
		options = append(options, v.option)
	}
	for _, f := range w.wanted() {
		options = append(options, llm.Option{ID: "variable " + f.Name, Label: f.Description})
	}
	if phrases := h.Hints(w.request(), options); len(phrases) > 0 {
		w.answer.Step(conversation.Expect{Phrases: phrases})
	}
}
