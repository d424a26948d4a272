package models

import "reflect"

// Clean makes all text of the result fit for every engine, as a store on a database does.
func (r *Result) Clean() {
	cleanRow(pageTable, &r.Page)
	if r.Robots != nil {
		row := *r.Robots
		cleanRow(robotsTable, &row)
		if len(row.Body) == 0 {
			row.Body = nil
		}
		r.Robots = &row
	}
	if r.Version != nil {
		row := *r.Version
		cleanRow(versionTable, &row)
		r.Version = &row
	}
	if r.Content != nil {
		row := contentRow{Content: *r.Content}
		cleanRow(contentTable, &row)
		r.Content = &row.Content
	}
	r.Events = append([]Event(nil), r.Events...)
	for i := range r.Events {
		cleanRow(eventTable, &r.Events[i])
	}
}

// cleanRow cleans the text columns of a row.
func cleanRow[T any](tb table[T], row *T) {
	for _, field := range tb.fields(row) {
		if v := reflect.ValueOf(field).Elem(); v.Kind() == reflect.String {
			v.SetString(Clean(v.String()))
		}
	}
}
