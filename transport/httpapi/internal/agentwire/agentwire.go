// Package agentwire translates the settings of agents that calls, web agents and inbound numbers have in common, from and to the generated
// types of their areas.
package agentwire

import (
	"encoding/json"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/request"
)

// dynamicData is a request for dynamic data in the JSON of the contract.
type dynamicData struct {
	URL          string  `json:"url"`
	Method       string  `json:"method,omitempty"`
	Headers      []pair  `json:"headers,omitempty"`
	Query        []pair  `json:"query,omitempty"`
	Body         []pair  `json:"body,omitempty"`
	Cache        bool    `json:"cache"`
	ResponseData []field `json:"response_data,omitempty"`
}

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type field struct {
	Name    string `json:"name"`
	Data    string `json:"data,omitempty"`
	Context string `json:"context,omitempty"`
}

// DynamicData translates a generated list of requests for dynamic data. It returns nil for null and for an absent list, and an empty list
// for an empty one.
func DynamicData(given json.Marshaler) ([]agents.DynamicData, error) {
	text, err := given.MarshalJSON()
	if err != nil || len(text) == 0 { // empty text: the member is absent
		return nil, err
	}
	var list []dynamicData
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		return nil, err
	}
	data := make([]agents.DynamicData, len(list))
	for i, d := range list {
		data[i] = agents.DynamicData{
			URL: d.URL, Method: d.Method, Headers: fromPairs(d.Headers), Query: fromPairs(d.Query), Body: fromPairs(d.Body), Cache: d.Cache,
		}
		for _, f := range d.ResponseData {
			data[i].Response = append(data[i].Response, request.Mapping{Name: f.Name, Path: f.Data, Context: f.Context})
		}
	}
	return data, nil
}

// DynamicDataList translates requests for dynamic data to a generated list. It returns the zero value for nil.
func DynamicDataList[L any, P interface {
	*L
	json.Unmarshaler
}](data []agents.DynamicData) (generated L, err error) {
	if data == nil {
		return generated, nil
	}
	list := make([]dynamicData, len(data))
	for i, d := range data {
		list[i] = dynamicData{
			URL: d.URL, Method: d.Method, Headers: toPairs(d.Headers), Query: toPairs(d.Query), Body: toPairs(d.Body), Cache: d.Cache,
		}
		for _, m := range d.Response {
			list[i].ResponseData = append(list[i].ResponseData, field{Name: m.Name, Data: m.Path, Context: m.Context})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return generated, err
	}
	return generated, P(&generated).UnmarshalJSON(text)
}

func fromPairs(given []pair) []request.Pair {
	var list []request.Pair
	for _, p := range given {
		list = append(list, request.Pair{Name: p.Key, Value: p.Value})
	}
	return list
}

func toPairs(given []request.Pair) []pair {
	var list []pair
	for _, p := range given {
		list = append(list, pair{Key: p.Name, Value: p.Value})
	}
	return list
}
