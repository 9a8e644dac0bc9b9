package caller

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/scenario"
)

// lines returns the caller's messages.
func lines(messages []scenario.Message) []scenario.Message {
	out := make([]scenario.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role != llm.RoleAgent && m.Role != llm.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

// Scripted is a Caller that says the lines of a script, each once. In each turn it says the first unsaid line that matches the agent's node
// and last words. If no line matches, it hangs up.
type Scripted struct {
	open []scenario.Message
}

// NewScripted returns a caller that says the caller's lines of a script. It does not change the script.
func NewScripted(script []scenario.Message) *Scripted { return &Scripted{open: lines(script)} }

// Next returns the first unsaid line that matches the moment, or hangs up.
func (c *Scripted) Next(ctx context.Context, m Moment) (Line, error) {
	if err := ctx.Err(); err != nil {
		return Line{}, err
	}
	heard := ""
	if n := len(m.Messages); n > 0 && m.Messages[n-1].Role == llm.RoleAgent {
		heard = strings.ToLower(m.Messages[n-1].Text)
	}
	for i, l := range c.open {
		if (l.Node == "" || l.Node == m.Node) && strings.Contains(heard, strings.ToLower(l.Keyword)) {
			c.open = append(c.open[:i], c.open[i+1:]...)
			return Line{Text: l.Text}, nil
		}
	}
	return Line{HangUp: true}, nil
}

// Replay is a Caller that says the caller's lines of a conversation in order, regardless of the agent's words, and then hangs up.
type Replay struct {
	open []scenario.Message
}

// NewReplay returns a caller that says the caller's lines of a conversation.
func NewReplay(messages []scenario.Message) *Replay { return &Replay{open: lines(messages)} }

// Next returns the next line, or hangs up after the last line.
func (c *Replay) Next(ctx context.Context, _ Moment) (Line, error) {
	if err := ctx.Err(); err != nil {
		return Line{}, err
	}
	if len(c.open) == 0 {
		return Line{HangUp: true}, nil
	}
	l := c.open[0]
	c.open = c.open[1:]
	return Line{Text: l.Text}, nil
}
