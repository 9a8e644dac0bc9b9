package callwright

import (
	"context"
	"log/slog"
	"maps"
	"slices"
)

type loggedKey struct{}

// WithLog returns a context that adds attributes to log lines, for example the id of the call. It affects lines that are written with a
// *Context method of a logger whose handler is a LogHandler. An attribute replaces an earlier one with the same key.
func WithLog(ctx context.Context, attrs ...slog.Attr) context.Context {
	all := slices.Clone(LogAttrs(ctx))
	for _, a := range attrs {
		all = slices.DeleteFunc(all, func(old slog.Attr) bool { return old.Key == a.Key })
		all = append(all, a)
	}
	return context.WithValue(ctx, loggedKey{}, all)
}

// LogAttrs returns the attributes that WithLog added to ctx. A logger for work that outlives ctx needs them.
func LogAttrs(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(loggedKey{}).([]slog.Attr)
	return slices.Clip(attrs)
}

// LogHandler returns a handler that adds the attributes of WithLog to each line, and then passes the line to h. It omits attributes whose
// keys the line already contains. Within a group it adds none.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{Handler: h} }

type logHandler struct {
	slog.Handler
	known map[string]bool // keys of the attributes added by WithAttrs
	group bool            // a group is open, and would contain added attributes
}

// Handle adds those attributes of the context whose keys the line does not contain yet, and passes the line on. Within a group it adds
// none.
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

// WithAttrs returns a handler that adds attrs to all lines, and remembers their keys so that Handle does not repeat them.
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

// WithGroup returns a handler that puts the further attributes of a line into a group. Within a group, the handler adds no attributes of
// the context.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.known, name != "" || h.group}
}
