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

// failure is the JSON text of a result with isError.
type failure struct {
	Status     int    `json:"status,omitempty"` // HTTP status; 0 without an answer
	Code       string `json:"code,omitempty"`
	Message    string `json:"message"`
	Field      string `json:"field,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // in seconds
	Body       any    `json:"body,omitempty"`        // body of the API's answer: JSON, or a text
}

// maxBody is the length to which a body that is not JSON is clipped, in bytes.
const maxBody = 4 << 10

// bodyOf returns the body of an answer for a failure, or nil for an empty body.
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

// explain converts the error of a tool to a failure.
func explain(err error) failure {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return failure{e.Status, e.Code, e.Message, e.Field, int(e.RetryAfter.Seconds()), bodyOf(e.Body)}
	}
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return failure{Code: string(e.Code), Message: e.Message, Field: e.Field}
	}
	return failure{Code: string(callwright.CodeBadRequest), Message: callwright.Clip(err.Error(), 4<<10)} // err reports a schema violation
}

// explainErrors is middleware that replaces the text of failed results, including those of invalid arguments, with the JSON of a failure.
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
