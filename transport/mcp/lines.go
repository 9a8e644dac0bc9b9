package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// input reads the lines of a client. It answers lines that are not messages with an error and skips them, because the SDK would end the
// session.
type input struct {
	in    io.Reader
	lines *bufio.Reader // reads in; its size limits a line
	out   *output
	rest  []byte // unread part of the current message
}

func newInput(in io.Reader, out *output) *input {
	return &input{in: in, lines: bufio.NewReaderSize(in, maxLine), out: out}
}

// Read reads the next part of a message. It returns an error for a line of more than maxLine bytes.
func (i *input) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		line, err := i.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("a message must have at most %d bytes", maxLine)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			refused := i.refuse(line)
			if refused != nil {
				return 0, refused
			}
		}
		if err != nil && len(i.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// refuse stores a line in i.rest if the line is a message, and answers any other line with an error. It returns an error only if the answer
// cannot be written.
func (i *input) refuse(line []byte) error {
	switch {
	case !json.Valid(line):
		return i.answer(nil, jsonrpc.CodeParseError, "the line is not JSON: send each message as one line")
	case line[0] == '[':
		return i.answer(nil, jsonrpc.CodeInvalidRequest, "batches are not supported: send each message as one line")
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return i.answer(line, jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0")
	}
	i.rest = append(bytes.Clone(line), '\n')
	return nil
}

// answer writes an error of JSON-RPC, with the id of the line or null.
func (i *input) answer(line []byte, code int64, message string) error {
	var request struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(line, &request) // without an id, the error has the id null
	switch request.ID.(type) {
	case string, float64:
	default:
		request.ID = nil
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": request.ID, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil {
		return err
	}
	_, err = i.out.Write(append(text, '\n'))
	return err
}

// Close closes the underlying stream if it is an io.Closer, so that a pending Read can return.
func (i *input) Close() error {
	if closer, ok := i.in.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// output writes lines, which may come from concurrent goroutines. It never closes its stream, which belongs to the caller.
type output struct {
	mu  sync.Mutex
	out io.Writer
}

// Write writes a whole line, without interleaving concurrent lines.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

// Close does nothing, because the stream belongs to the caller.
func (*output) Close() error { return nil }
