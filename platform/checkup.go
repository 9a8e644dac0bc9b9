package platform

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/checkup"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// checkTime bounds the check of one engine.
const checkTime = 30 * time.Second

// CheckEngines asks the models, the voice and the recognizer of a configuration a small thing each: see package checkup. It starts nothing
// else, so that it can run beside the platform. It logs what a service refuses. It returns an error for an invalid configuration.
func CheckEngines(ctx context.Context, c Config) ([]checkup.Report, error) {
	if err := errors.Join(c.checkEngines(), c.checkModels()); err != nil {
		return nil, err
	}
	var model llm.Model
	var voice tts.Engine
	var recognizer conversation.Recognizer
	var used engines
	var runtime callwright.Runtime
	app := fx.New(fx.NopLogger, fx.Supply(c), fx.Provide(newLogLevel, newRuntime, newService, newPrices, newModelMeter, newModel, newEngines),
		fx.Populate(&model, &voice, &recognizer, &used, &runtime))
	if err := app.Start(ctx); err != nil {
		return nil, dig.RootCause(err)
	}
	names := []string{""}
	if n, ok := model.(llm.Named); ok {
		names = slices.AppendSeq(names, maps.Keys(n.Named()))
		slices.Sort(names)
	}
	reports := make([]checkup.Report, 0, len(names)+2)
	check := func(one func(context.Context) checkup.Report) {
		within, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		reports = append(reports, one(within))
	}
	for _, name := range names {
		check(func(ctx context.Context) checkup.Report { return checkup.Model(ctx, model, name, runtime.Clock) })
	}
	var speech []int16
	check(func(ctx context.Context) (r checkup.Report) {
		r, speech = checkup.Voice(ctx, voice, runtime.Clock)
		r.By = cmp.Or(used.speaksBy, r.By)
		return r
	})
	check(func(ctx context.Context) checkup.Report {
		return checkup.Recognizer(ctx, recognizer, used.hearsBy, speech, runtime.Clock)
	})
	return reports, app.Stop(context.WithoutCancel(ctx))
}
