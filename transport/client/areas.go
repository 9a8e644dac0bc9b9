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

// areas contains the generated clients.
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

// newAreas returns generated clients that send their requests through c.
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

// generatedDoer sends the requests of generated clients through a Client.
type generatedDoer struct{ c *Client }

// Do sends a request with the key, retries and limits of the Client.
func (d generatedDoer) Do(r *http.Request) (*http.Response, error) { return d.c.send(r) }

// keyed is the security source of generated clients. It adds nothing, because Client.send adds the key.
type keyed struct{}

// ApiKey does nothing, because Client.send adds the key.
func (keyed) ApiKey(context.Context, string, *http.Request) error { return nil }

// The generated clients. For every status other than success, their methods return an error that wraps an *Error, like the methods of
// Client. They never return their declared error types.

// Agents returns the generated client for agents, personas and inbound numbers.
func (c *Client) Agents() *agentsoas.Client { return c.areas.agents }

// AgentTests returns the generated client for scenarios, runs and batches.
func (c *Client) AgentTests() *agenttestoas.Client { return c.areas.agentTests }

// Calls returns the generated client for calls and recordings.
func (c *Client) Calls() *callsoas.Client { return c.areas.calls }

// Pathways returns the generated client for pathways and their chats.
func (c *Client) Pathways() *pathwaysoas.Client { return c.areas.pathways }

// Porting returns the generated client for port requests.
func (c *Client) Porting() *portingoas.Client { return c.areas.porting }

// SIP returns the generated client for trunks.
func (c *Client) SIP() *sipoas.Client { return c.areas.sip }

// Speech returns the generated client for speech, for operations that Client has no method for.
func (c *Client) Speech() *speechoas.Client { return c.areas.speech }

// Triage returns the generated client for issues.
func (c *Client) Triage() *triageoas.Client { return c.areas.triage }

// Webhooks returns the generated client for paused webhooks.
func (c *Client) Webhooks() *webhooksoas.Client { return c.areas.webhooks }
