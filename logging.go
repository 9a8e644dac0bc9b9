package callwright

import (
	"context"
	"log/slog"
	"maps"
	"slices"
)

type loggedKey struct{}

// WithLog returns a context that adds attributes to log lines, for example the id of the call. It affects lines written with a
// *Context method of a logger over LogHandler. An attribute replaces an earlier one of its name.
func WithLog(ctx context.Context, attrs ...slog.Attr) context.Context {
	all := slices.Clone(LogAttrs(ctx))
	for _, a := range attrs {
		all = slices.DeleteFunc(all, func(old slog.Attr) bool { return old.Key == a.Key })
		all = append(all, a)
	}
	return context.WithValue(ctx, loggedKey{}, all)
}

// LogAttrs returns the attributes of WithLog in a context, for loggers of work that outlives it.
func LogAttrs(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(loggedKey{}).([]slog.Attr)
	return slices.Clip(attrs)
}

// LogHandler returns a handler that adds the attributes of WithLog to the lines of a context, unless a line already has one of that
// name.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{Handler: h} }

type logHandler struct {
	slog.Handler
	known map[string]bool // names of the attributes of every line
	group bool            // added attributes would be in a group
}

// Handle adds the context's attributes.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	attrs := LogAttrs(ctx)
	if len(attrs) == 0 || h.group {
		return h.Handler.Handle(ctx, r)
	}
	own := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		own[a.Key] = true
		return true
	})
	r = r.Clone()
	for _, a := range attrs {
		if !own[a.Key] && !h.known[a.Key] {
			r.AddAttrs(a)
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler that adds attributes to all lines.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	known := maps.Clone(h.known)
	if known == nil {
		known = map[string]bool{}
	}
	for _, a := range attrs {
		known[a.Key] = true
	}
	return logHandler{h.Handler.WithAttrs(attrs), known, h.group}
}

// WithGroup returns a handler that puts attributes into a group.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.known, name != "" || h.group}
}
