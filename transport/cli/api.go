package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// api is the client with which commands call the API of a server.
type api struct{ *client.Client }

// openAPI returns a client for the API that the flags and the environment name.
func openAPI(c Config, cmd *cobra.Command, env func(string) string) (*api, error) {
	return openClient(c, cmd, env, client.VoiceChoice{})
}

// openClient is like openAPI, with a choice of the voice that speaks.
func openClient(c Config, cmd *cobra.Command, env func(string) string, voice client.VoiceChoice) (*api, error) {
	e, err := findEndpoint(cmd, env)
	if err != nil {
		return nil, err
	}
	to, err := client.New(client.Config{
		BaseURL: e.baseURL, APIKey: e.key, AllowHTTP: e.allowHTTP, Voice: voice, Rand: c.Rand, Retry: c.Retry, UserAgent: "callwright-cli", HTTP: c.busyNotices(cmd),
	})
	if err != nil {
		return nil, usage(err)
	}
	return &api{to}, nil
}

// call sends a request and returns the body of the answer, which is valid JSON.
func (a *api) call(ctx context.Context, q client.Request) (json.RawMessage, error) {
	answer, err := a.Do(ctx, q)
	if err != nil {
		return nil, err
	}
	if !json.Valid(answer.Body) {
		return nil, a.foreignAnswer()
	}
	return answer.Body, nil
}

// busyNotices returns an HTTP client that prints a notice for each answer with the status 429, 502 or 503, after which the client normally
// retries the request, so that a person at a terminal sees why the command waits. It returns nil if stderr is not a terminal or --json is
// set.
func (c Config) busyNotices(cmd *cobra.Command) *http.Client {
	if asJSON(cmd) || !c.isTerminal(cmd.ErrOrStderr()) {
		return nil
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil
	}
	return &http.Client{Transport: observed{base.Clone(), func(answer *http.Response) {
		switch answer.StatusCode {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
			text := "the server answers " + answer.Status
			if wait := answer.Header.Get("Retry-After"); wait != "" {
				text += ", it asks to wait for " + wait + " s"
			}
			notice(cmd, "%s", text)
		}
	}}}
}

// observed is a RoundTripper that passes each answer to the function tell.
type observed struct {
	base http.RoundTripper
	tell func(*http.Response)
}

// RoundTrip sends the request through base, and passes the answer, if any, to the function tell.
func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := o.base.RoundTrip(r)
	if err == nil {
		o.tell(answer)
	}
	return answer, err
}

// unwrapped returns the *client.Error or *callwright.Error that err wraps. Any other error becomes foreignAnswer. It returns nil for nil.
func (a *api) unwrapped(err error) error {
	if err == nil {
		return nil
	}
	if answer, ok := errors.AsType[*client.Error](err); ok {
		return answer
	}
	if coded, ok := errors.AsType[*callwright.Error](err); ok {
		return coded
	}
	return a.foreignAnswer().Because(err)
}

// foreignAnswer returns the error for an answer that is not a Callwright server's.
func (a *api) foreignAnswer() *callwright.Error {
	return callwright.Errorf(callwright.CodeUnavailable, "%s does not answer like a Callwright server: name another one with --%s", a.BaseURL(), serverFlag)
}
