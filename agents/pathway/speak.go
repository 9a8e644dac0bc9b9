package pathway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// fromKnowledge contains the instructions for a Knowledge Base node.
const fromKnowledge = "Answer only from the knowledge that you are given. Where it has no answer, say that you don't know."

// unknown is spoken if the model does not support answers from knowledge.
const unknown = "I am sorry, I don't know that."

// say speaks a text, in which variables are replaced by their values. It ignores an empty text.
func (w *walk) say(text string) {
	if text != "" {
		w.answer.Text(w.render(template.Parse(text)))
	}
}

// speak speaks the words of the node, or lets the model find words. It reports whether the node has a text or a prompt, or is a Knowledge
// Base node. arriving means that the conversation has just entered the node.
func (w *walk) speak(ctx context.Context, arriving bool) bool {
	switch {
	case w.cut():
		w.sayRest(arriving)
	case w.at.Text != nil:
		w.state.SaysText = true
		w.answer.Text(w.render(w.at.Text))
	case w.at.Prompt != nil || w.at.Type == graph.NodeKnowledge:
		w.reply(ctx, arriving)
	default:
		return false
	}
	return true
}

// reply lets the model speak. It ignores the model's actions, because only the graph decides when a call ends or is transferred.
func (w *walk) reply(ctx context.Context, arriving bool) {
	r := w.request()
	if r.Arriving = arriving; !arriving || w.returned {
		r.Unheard = w.state.Talk.Unheard
	}
	if w.at.Type == graph.NodeKnowledge {
		r.Knowledge = w.passages(ctx)
	}
	if w.broken(ctx) {
		return
	}
	said := w.answer.Said()
	switch err := w.converse(ctx, r); {
	case err == nil:
	case w.at.Type == graph.NodeKnowledge && llm.ClassOf(err) == llm.ClassUnsupported && w.answer.Said() == said:
		w.note(LogEntry{Kind: LogError, Text: err.Error()})
		w.answer.Text(unknown)
	default:
		w.fail(ctx, err)
	}
}

// converse lets the model speak, and logs the requests of its tools. It returns the error of the model.
func (w *walk) converse(ctx context.Context, r llm.ReplyRequest) error {
	speaker := dialogue.Speaker{
		Model: w.counter, Tools: w.at.Tools, Requests: w.requests(), Runtime: w.interpreter.Runtime,
	}
	reply, err := speaker.Reply(ctx, w.answer, r, w.state.Variables)
	w.log.Usage = w.log.Usage.Add(reply.Usage)
	for i := range reply.Requests {
		w.acted = true
		w.note(LogEntry{Kind: LogRequest, Request: &reply.Requests[i]})
	}
	w.set(reply.Variables)
	w.normalizeCalls()
	return err
}

// normalizeCalls replaces the arguments of the turn's tool calls by the form that they have after decoding from a stored State.
func (w *walk) normalizeCalls() {
	for _, m := range w.state.Talk.Messages[len(w.heard.Messages):] {
		for i, c := range m.Calls {
			if kept, err := json.Marshal(c.Arguments); err == nil {
				m.Calls[i].Arguments = kept
			}
		}
	}
}

// request returns the request for the agent's words at the node. Texts of the caller and of other systems are in the messages. They can
// become part of the instructions only as values of variables in templates.
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
	if w.at.Type == graph.NodeKnowledge {
		add(fromKnowledge)
	}
	model, temperature := w.model()
	return llm.ReplyRequest{
		Org: w.agent.Org, Task: llm.TaskReply, Instructions: strings.Join(parts, "\n\n"), Language: w.agent.Language,
		Model: model, Fallback: w.agent.Fallback, Temperature: temperature, Messages: slices.Clone(w.state.Talk.Messages),
		Facts: request.Known(slices.Concat(w.agent.Facts, w.graph.Facts), &w.values),
	}
}

// question returns a question at the node, without a task. llm.Extract and llm.Choose set the task.
func (w *walk) question() llm.Question {
	model, temperature := w.model()
	return llm.Question{
		Org: w.agent.Org, Language: w.agent.Language, Model: model, Fallback: w.agent.Fallback, Temperature: temperature,
		Messages: slices.Clone(w.state.Talk.Messages), Variables: w.state.Variables,
	}
}

// model returns the name and the temperature of the model for the node. It remembers the first unknown name for the log.
func (w *walk) model() (name string, temperature *float64) {
	name, temperature = w.agent.Model, w.agent.Temperature
	if w.at.Model != "" {
		name = w.at.Model
	}
	if w.at.Temperature != nil {
		temperature = w.at.Temperature
	}
	if _, known := llm.NameOf(w.interpreter.Model, name); !known && w.unknown == "" {
		w.unknown = name
	}
	return name, temperature
}
