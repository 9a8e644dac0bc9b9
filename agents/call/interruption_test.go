package call_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestInterruptionsOfBothBrains checks that the interruptibility and the threshold of an agent apply to the words of both brains, and that
// those of a pathway's node replace them. Personas, numbers and calls set the same fields of the agent.
func TestInterruptionsOfBothBrains(t *testing.T) {
	t.Parallel()
	const text = "this is a sentence of some length"
	level := func(n int) agents.Agent { return agents.Agent{Interruptibility: &n} }
	after := func(d time.Duration) agents.Agent { return agents.Agent{Interruption: &d} }
	for name, c := range map[string]struct {
		agent agents.Agent
		node  string // the node's modelOptions; only the pathway is tested if it is set
		says  string
		cut   bool
	}{
		"default, words":                       {agents.Agent{}, "", "but please", true},
		"default, back-channel":                {agents.Agent{}, "", "okay", false},
		"never":                                {level(0), "", "but please", false},
		"reluctantly, two words":               {level(1), "", "but please", false},
		"reluctantly, three words":             {level(1), "", "but please tell", true},
		"readily":                              {level(3), "", "but please", true},
		"at once":                              {level(4), "", "okay", true},
		"late":                                 {after(8 * time.Second), "", "but please", false},
		"at the first sound":                   {after(0), "", "a", true},
		"node never":                           {level(4), `{"interruptibility":0}`, "okay", false},
		"node blocks":                          {level(4), `{"block_interruptions":true}`, "okay", false},
		"node blocks, whatever its level":      {agents.Agent{}, `{"block_interruptions":true,"interruptibility":4}`, "but please", false},
		"node does not block":                  {level(4), `{"block_interruptions":false}`, "okay", true},
		"node at once":                         {level(0), `{"interruptibility":4}`, "okay", true},
		"node as usual":                        {level(0), `{"interruptibility":2}`, "but please", true},
		"node late":                            {level(2), `{"interruptionThreshold":8000}`, "but please", false},
		"node early":                           {after(8 * time.Second), `{"interruptionThreshold":200}`, "but please", true},
		"node's level drops the agent's delay": {after(8 * time.Second), `{"interruptibility":2}`, "but please", true},
	} {
		for _, led := range []string{"task", "pathway"} {
			if c.node != "" && led == "task" {
				continue
			}
			t.Run(name+", "+led, func(t *testing.T) {
				t.Parallel()
				inClinic(t, func(t *testing.T, h *house, l *library, _ *agentstest.Requests) {
					a := c.agent
					if a.FirstSentence = text; led == "pathway" {
						options := c.node
						if options == "" {
							options = "{}"
						}
						g, err := graph.Compile(graph.Document{Nodes: []json.RawMessage{json.RawMessage(fmt.Sprintf(
							`{"id":"a","type":"Default","data":{"name":"a","isStart":true,"text":%q,"modelOptions":%s}}`, text, options))}})
						if err != nil {
							t.Fatal(err)
						}
						l.change(func() { l.graphs["clinic"][7] = g })
						a.FirstSentence, a.Pathway = "", production
					}
					placed := h.order(call.Request{Agent: a})
					phone := h.answered()
					h.hears(phone, "this is a s")
					phone.Say(c.says)
					waitFor(5 * time.Second)
					phone.Hangup()
					if _, lines := h.ended(placed.ID); len(lines) == 0 || lines[0].Interrupted != c.cut {
						t.Errorf("the transcript is %+v", lines)
					}
				})
			})
		}
	}
}
