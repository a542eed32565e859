-- The example database: a small library. Made up for this package.
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE book (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, pages INTEGER,
    author_id INTEGER REFERENCES author (id)
);
CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined DATE);
CREATE TABLE loan (
    id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book (id),
    member_id INTEGER REFERENCES member (id), borrowed DATE, returned DATE
);
INSERT INTO author VALUES (1, 'Mara Lindqvist', 'Sweden'), (2, 'Tomas Ferreira', 'Portugal'),
    (3, 'Aiko Tanabe', 'Japan'), (4, 'Niamh O''Dwyer', 'Ireland');
INSERT INTO book VALUES (1, 'The Salt Road', 1998, 312, 2), (2, 'Winter Ferry', 2004, 228, 1),
    (3, 'A Lamp for Two', 2011, 190, 3), (4, 'Bridges of Porto', 2015, 402, 2),
    (5, 'The Quiet Orchard', 2019, 275, 4), (6, 'Letters from Uppsala', 2021, 340, 1);
INSERT INTO member VALUES (1, 'Ana', '2023-01-15'), (2, 'Bruno', '2023-03-02'),
    (3, 'Chloe', '2024-06-20'), (4, 'Dario', '2025-02-11');
INSERT INTO loan VALUES (1, 1, 1, '2025-01-10', '2025-01-24'), (2, 2, 1, '2025-02-01', '2025-02-20'),
    (3, 1, 2, '2025-02-05', '2025-03-01'), (4, 5, 3, '2025-03-03', NULL),
    (5, 3, 1, '2025-03-08', '2025-03-19'), (6, 6, 2, '2025-04-02', NULL),
    (7, 1, 3, '2025-04-11', '2025-04-30'), (8, 5, 1, '2025-05-06', NULL),
    (9, 2, 2, '2024-02-12', '2024-03-01'), (10, 4, 1, '2024-03-05', '2024-04-02'),
    (11, 1, 2, '2024-03-20', '2024-04-09'), (12, 3, 3, '2024-07-01', '2024-07-15'),
    (13, 6, 3, '2024-11-08', '2024-12-01'), (14, 2, 4, '2025-02-14', '2025-03-05'),
    (15, 1, 4, '2025-03-06', '2025-03-27'), (16, 6, 4, '2025-05-12', '2025-05-30');
