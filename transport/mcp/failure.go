package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// failure is the text of a result with isError.
type failure struct {
	Status     int    `json:"status,omitempty"` // of HTTP; none when no answer came
	Code       string `json:"code,omitempty"`
	Message    string `json:"message"`
	Field      string `json:"field,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // seconds
	Body       any    `json:"body,omitempty"`        // of the API's answer: its JSON, or its text
}

// maxBody bounds the body of an answer that is no JSON, in bytes.
const maxBody = 4 << 10

// bodyOf returns the body of an answer as a result has it; nil: it has none.
func bodyOf(raw []byte) any {
	switch {
	case len(raw) == 0:
		return nil
	case json.Valid(raw):
		return json.RawMessage(raw)
	default:
		return callwright.Clip(strings.ToValidUTF8(string(raw), "\uFFFD"), maxBody)
	}
}

// explain describes an error of a tool.
func explain(err error) failure {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return failure{e.Status, e.Code, e.Message, e.Field, int(e.RetryAfter.Seconds()), bodyOf(e.Body)}
	}
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return failure{Code: string(e.Code), Message: e.Message, Field: e.Field}
	}
	return failure{Code: string(callwright.CodeBadRequest), Message: callwright.Clip(err.Error(), 4<<10)} // of the arguments' schema
}

// explainErrors is middleware that gives failures of tools their text, including failures of invalid arguments.
func explainErrors(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		called, ok := result.(*sdk.CallToolResult)
		if err != nil || !ok || called == nil || called.GetError() == nil {
			return result, err
		}
		text, err := json.Marshal(explain(called.GetError()))
		if err != nil {
			return nil, err
		}
		called.Content = []sdk.Content{&sdk.TextContent{Text: string(text)}}
		return called, nil
	}
}
