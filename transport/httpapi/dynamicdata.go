package httpapi

import (
	"encoding/json"
	"math"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/transport/oas"
)

// dynamicData is a list of requests in the domain's words. Null is nil, and another thing than an empty list.
func dynamicData(given oas.OptNilDynamicDataList) []agents.DynamicData {
	if given.Value == nil {
		return nil
	}
	list := make([]agents.DynamicData, len(given.Value))
	for i, d := range given.Value {
		list[i] = agents.DynamicData{
			URL: d.URL, Method: d.Method.Or(""), Headers: pairs(d.Headers), Query: pairs(d.Query), Body: pairs(d.Body),
			Cache: d.Cache.Or(false),
		}
		for _, field := range d.ResponseData {
			list[i].Response = append(list[i].Response, request.Mapping{
				Name: field.Name, Path: field.Data.Or(""), Context: field.Context.Or(""),
			})
		}
	}
	return list
}

func pairs(given []oas.KeyValue) []request.Pair {
	var list []request.Pair
	for _, p := range given {
		list = append(list, request.Pair{Name: p.Key, Value: p.Value})
	}
	return list
}

// dynamicDataList is a list of requests as clients write it.
func dynamicDataList(data []agents.DynamicData) oas.DynamicDataList {
	if data == nil {
		return nil
	}
	list := make(oas.DynamicDataList, len(data))
	for i, d := range data {
		list[i] = oas.DynamicData{
			URL: d.URL, Method: optText(d.Method), Headers: keyValues(d.Headers), Query: keyValues(d.Query),
			Body: keyValues(d.Body), Cache: oas.NewOptBool(d.Cache),
		}
		for _, m := range d.Response {
			list[i].ResponseData = append(list[i].ResponseData, oas.DynamicDataField{
				Name: m.Name, Data: optText(m.Path), Context: optText(m.Context),
			})
		}
	}
	return list
}

func keyValues(pairs []request.Pair) []oas.KeyValue {
	var list []oas.KeyValue
	for _, p := range pairs {
		list = append(list, oas.KeyValue{Key: p.Name, Value: p.Value})
	}
	return list
}

// toolTexts are the definitions of tools as they were given; nil for null.
func toolTexts(given oas.OptNilAgentTools) []json.RawMessage {
	return itemsAs[json.RawMessage](given.Value)
}

// fromMillis is a number of milliseconds as a duration; nil for none.
func fromMillis(ms float64, given bool) *time.Duration {
	if !given {
		return nil
	}
	return new(time.Duration(math.Round(ms * float64(time.Millisecond))))
}

// nilMillis is a duration in milliseconds; null for none.
func nilMillis(d *time.Duration) oas.NilFloat64 {
	if d == nil {
		return oas.NilFloat64{Null: true}
	}
	return oas.NewNilFloat64(float64(*d) / float64(time.Millisecond))
}
