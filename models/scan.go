package models

// scanTexts reads a column of texts and closes the rows.
func scanTexts(rows answer, err error) (texts []string, _ error) {
	err = eachRow(rows, err, func(rows answer) error {
		texts = append(texts, "")
		return rows.Scan(&texts[len(texts)-1])
	})
	return texts, err
}

// scanIDs reads a column of numbers and closes the rows.
func scanIDs(rows answer) ([]int64, error) {
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
