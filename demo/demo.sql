-- What the demonstration records: a table is filled, indexed and queried.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, grp INTEGER, price REAL);
WITH RECURSIVE counter(n) AS (
	VALUES(1) UNION ALL SELECT n + 1 FROM counter WHERE n < 200000)
INSERT INTO item
	SELECT n, printf('item-%06d-%s', n, hex(n * 7919)), n * 31 % 97,
	       (n * 37 % 1000) / 10.0
	FROM counter;
CREATE INDEX item_name ON item(name);
CREATE INDEX item_grp ON item(grp, price);
SELECT count(*), sum(price) FROM item WHERE name LIKE 'item-1%';
SELECT grp, count(*), avg(price) FROM item GROUP BY grp ORDER BY 3 DESC LIMIT 3;
SELECT a.name, b.name FROM item a JOIN item b ON a.id = b.grp * 1000
	ORDER BY a.name DESC, b.id LIMIT 2;
