package client

import (
	"context"
	"net/http"

	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
	"github.com/callwright/callwright/transport/oas/portingoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
	"github.com/callwright/callwright/transport/oas/speechoas"
	"github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/transport/oas/webhooksoas"
)

// areas are the generated clients.
type areas struct {
	agents     *agentsoas.Client
	agentTests *agenttestoas.Client
	calls      *callsoas.Client
	pathways   *pathwaysoas.Client
	porting    *portingoas.Client
	sip        *sipoas.Client
	speech     *speechoas.Client
	triage     *triageoas.Client
	webhooks   *webhooksoas.Client
}

// newAreas makes generated clients that send through c.
func newAreas(c *Client) (*areas, error) {
	var a areas
	var err error
	to, via := c.base.String(), generatedDoer{c}
	for _, connect := range []func() error{
		func() error { a.agents, err = agentsoas.NewClient(to, keyed{}, agentsoas.WithClient(via)); return err },
		func() error {
			a.agentTests, err = agenttestoas.NewClient(to, keyed{}, agenttestoas.WithClient(via))
			return err
		},
		func() error { a.calls, err = callsoas.NewClient(to, keyed{}, callsoas.WithClient(via)); return err },
		func() error {
			a.pathways, err = pathwaysoas.NewClient(to, keyed{}, pathwaysoas.WithClient(via))
			return err
		},
		func() error {
			a.porting, err = portingoas.NewClient(to, keyed{}, portingoas.WithClient(via))
			return err
		},
		func() error { a.sip, err = sipoas.NewClient(to, keyed{}, sipoas.WithClient(via)); return err },
		func() error { a.speech, err = speechoas.NewClient(to, keyed{}, speechoas.WithClient(via)); return err },
		func() error { a.triage, err = triageoas.NewClient(to, keyed{}, triageoas.WithClient(via)); return err },
		func() error {
			a.webhooks, err = webhooksoas.NewClient(to, keyed{}, webhooksoas.WithClient(via))
			return err
		},
	} {
		if err := connect(); err != nil {
			return nil, err
		}
	}
	return &a, nil
}

// generatedDoer sends the requests of generated clients.
type generatedDoer struct{ c *Client }

// Do sends a request as Client.Do does.
func (d generatedDoer) Do(r *http.Request) (*http.Response, error) { return d.c.send(r) }

// keyed is the security source of generated clients, whose requests get the key when they are sent.
type keyed struct{}

// ApiKey does nothing.
func (keyed) ApiKey(context.Context, string, *http.Request) error { return nil }

// The generated clients. Their methods fail with an *Error in the chain like the methods of Client, for every status other than
// success, so that their declared errors never occur.

// Agents returns the client of agents, personas and inbound numbers.
func (c *Client) Agents() *agentsoas.Client { return c.areas.agents }

// AgentTests returns the client of scenarios, runs and batches.
func (c *Client) AgentTests() *agenttestoas.Client { return c.areas.agentTests }

// Calls returns the client of calls and recordings.
func (c *Client) Calls() *callsoas.Client { return c.areas.calls }

// Pathways returns the client of pathways and their chats.
func (c *Client) Pathways() *pathwaysoas.Client { return c.areas.pathways }

// Porting returns the client of port requests.
func (c *Client) Porting() *portingoas.Client { return c.areas.porting }

// SIP returns the client of trunks.
func (c *Client) SIP() *sipoas.Client { return c.areas.sip }

// Speech returns the generated client of speech, for operations without a method of Client.
func (c *Client) Speech() *speechoas.Client { return c.areas.speech }

// Triage returns the client of issues.
func (c *Client) Triage() *triageoas.Client { return c.areas.triage }

// Webhooks returns the client of paused webhooks.
func (c *Client) Webhooks() *webhooksoas.Client { return c.areas.webhooks }
