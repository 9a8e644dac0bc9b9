package speechstore

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/callwright/callwright/speech"
)

// VoiceType is the type of the JSON in which a voice is stored.
var VoiceType = reflect.TypeFor[voiceJSON]()

// VoiceDocument returns the JSON in which a voice is stored.
func VoiceDocument(v speech.Voice) ([]byte, error) {
	return json.MarshalIndent(newVoiceJSON(v), "", "  ")
}

// FillSamples inserts samples and their counts, in statements of 500 rows.
func (s Samples) FillSamples(ctx context.Context, all []speech.Sample) error {
	for chunk := range slices.Chunk(all, 500) {
		rows := make([]sampleRow, len(chunk))
		for i, one := range chunk {
			rows[i] = newSampleRow(one)
		}
		err := s.DB.Do(ctx, func(ctx context.Context) error {
			if err := s.core().Insert(ctx, nil, &rows); err != nil {
				return err
			}
			return s.core().add(ctx, countsOf(chunk))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
