package agentstest

import (
	"context"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/request"
)

// Requests is a request.Client that sends nothing: a test gives its answers, and sees what it was asked.
type Requests struct {
	// Check is CheckURL; nil: every address is fine.
	Check func(url string) error
	// Answer answers a request; nil: 200 with the body {}. Requests that come side by side are answered side by side.
	Answer func(ctx context.Context, r request.Request) (request.Response, error)

	mu   sync.Mutex
	made []request.Request
}

// CheckURL asks Check.
func (c *Requests) CheckURL(url string) error {
	if c.Check == nil {
		return nil
	}
	return c.Check(url)
}

// Do keeps the request, and answers it.
func (c *Requests) Do(ctx context.Context, r request.Request) (request.Response, error) {
	c.mu.Lock()
	c.made = append(c.made, r)
	c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return request.Response{}, err
	}
	if c.Answer == nil {
		return request.Response{Status: 200, Body: []byte("{}")}, nil
	}
	return c.Answer(ctx, r)
}

// Made are the requests so far, in the order in which they came.
func (c *Requests) Made() []request.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.made)
}

// JSON is an Answer that always gives a body, with status 200.
func JSON(body string) func(context.Context, request.Request) (request.Response, error) {
	return func(context.Context, request.Request) (request.Response, error) {
		return request.Response{Status: 200, Body: []byte(body)}, nil
	}
}
