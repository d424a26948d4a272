package models

import "database/sql"

// scanIDs reads a column of numbers and closes the rows.
func scanIDs(rows *sql.Rows) ([]int64, error) {
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// scanText reads one text, or "" where there is no row, and closes the rows.
func scanText(rows *sql.Rows, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var text string
	if rows.Next() {
		err = rows.Scan(&text)
	}
	if err == nil {
		err = rows.Err()
	}
	return text, err
}
