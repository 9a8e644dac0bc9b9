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

// draining is a transport whose end is seen when all that was asked before it has been answered. Without it the session drops
// the answers to a client that writes its requests and closes its end, as a pipe in a shell does.
type draining struct {
	sdk.Transport

	limit time.Duration
}

// Connect connects.
func (d draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, limit: d.limit, changed: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// drainingConn counts the requests that are not yet answered.
type drainingConn struct {
	sdk.Connection

	limit   time.Duration
	mu      sync.Mutex
	open    int
	changed chan struct{} // has room for one: an answer was written
	once    sync.Once
	closed  chan struct{}
}

// maxOpen bounds the requests of a session that are under way, and with them the audio of their results.
const maxOpen = 16

// Read reads the next message, when fewer than maxOpen requests are open. At the end of the input it waits for the answers.
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

// Write writes a message.
func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.count(-1)
	}
	return err
}

// Close closes the connection.
func (c *drainingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// count adds to the open requests, and returns their number.
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

// wait waits until at most so many requests are open, the connection is closed, ctx ends or the limit is reached.
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
