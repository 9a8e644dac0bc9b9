package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// draining is a transport that reports the end of its input only after all earlier requests have been answered. Without it, the session
// would drop the answers to a client that writes its requests and closes its end, such as a pipe in a shell. limit is the maximum wait.
type draining struct {
	sdk.Transport

	limit time.Duration
}

// Connect opens the connection of the underlying transport.
func (d draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, limit: d.limit, changed: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// drainingConn counts the requests that have not been answered.
type drainingConn struct {
	sdk.Connection

	limit   time.Duration
	mu      sync.Mutex
	open    int
	changed chan struct{} // receives an element after a change of open; capacity 1
	once    sync.Once
	closed  chan struct{}
}

// maxOpen is the maximum number of unanswered requests of a session. It also limits the audio of their results.
const maxOpen = 16

// Read reads the next message. It first waits until fewer than maxOpen requests are open. At the end of the input, it waits until all
// requests are answered. Each wait ends after c.limit at the latest.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	c.wait(ctx, maxOpen-1)
	msg, err := c.Connection.Read(ctx)
	if r, ok := msg.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.count(1)
	}
	if errors.Is(err, io.EOF) {
		c.wait(ctx, 0)
	}
	return msg, err
}

// Write writes a message. An answer reduces the number of open requests.
func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.count(-1)
	}
	return err
}

// Close closes the connection and ends all waits.
func (c *drainingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// count adds change to the number of open requests, and returns the number.
func (c *drainingConn) count(change int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open += change; change != 0 {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return c.open
}

// wait returns when at most the given number of requests are open, the connection is closed, ctx ends or the limit has passed.
func (c *drainingConn) wait(ctx context.Context, most int) {
	timer := time.NewTimer(c.limit)
	defer timer.Stop()
	for c.count(0) > most {
		select {
		case <-c.changed:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		}
	}
}
